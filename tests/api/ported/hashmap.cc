// SPDX-License-Identifier: BSD-3-Clause
// hashmap.cc - a hash table over the symmetric memory of a team, as a C++11 class
// template: open addressing with linear probing (W. W. Peterson, 1957; D. E. Knuth, The
// Art of Computer Programming 3, 6.4), a slot claimed by compare-and-swap of its key.
// Teams, contexts and symmetric arrays are objects whose destructors release them; the
// routines for a type are selected by overloading.  Checked against a std::map of all
// additions.
#include <mpp/shmem.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Key = unsigned long long;

// ---- overloads of the routines for each type
inline void add(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    shmem_ctx_long_atomic_add(ctx, dest, value, pe);
}

inline void add(shmem_ctx_t ctx, double *dest, double value, int pe)
{
    static_assert(sizeof(std::uint64_t) == sizeof(double), "a double is a word");
    auto *word = reinterpret_cast<std::uint64_t *>(dest);
    std::uint64_t was = shmem_ctx_uint64_atomic_fetch(ctx, word, pe), seen, wanted;
    do {
        double sum;
        seen = was;
        std::memcpy(&sum, &seen, sizeof(sum));
        sum += value;
        std::memcpy(&wanted, &sum, sizeof(sum));
        was = shmem_ctx_uint64_atomic_compare_swap(ctx, word, seen, wanted, pe);
    } while (was != seen);
}

inline long fetch(shmem_ctx_t ctx, const long *source, int pe)
{
    return shmem_ctx_long_atomic_fetch(ctx, source, pe);
}

inline double fetch(shmem_ctx_t ctx, const double *source, int pe)
{
    return shmem_ctx_double_atomic_fetch(ctx, source, pe);
}

inline void sum_reduce(shmem_team_t team, long *dest, const long *source, std::size_t n)
{
    if (shmem_long_sum_reduce(team, dest, source, n) != 0)
        throw std::runtime_error("shmem_long_sum_reduce failed");
}

inline void sum_reduce(shmem_team_t team, double *dest, const double *source,
                       std::size_t n)
{
    if (shmem_double_sum_reduce(team, dest, source, n) != 0)
        throw std::runtime_error("shmem_double_sum_reduce failed");
}

// ---- owning classes
class Library
{
  public:
    Library() { shmem_init(); }
    ~Library() { shmem_finalize(); }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;
};

// Every second PE of the world; creation and destruction are collective.
class Team
{
  public:
    Team()
    {
        int npes = shmem_n_pes(), parts = npes > 1 ? 2 : 1;
        shmem_team_config_t config = {1}; // by default a team has no contexts
        for (int part = 0; part < parts; part++) {
            shmem_team_t made = SHMEM_TEAM_INVALID;
            shmem_team_split_strided(SHMEM_TEAM_WORLD, part, parts,
                                     (npes - part + parts - 1) / parts, &config,
                                     SHMEM_TEAM_NUM_CONTEXTS, &made);
            if (made != SHMEM_TEAM_INVALID)
                team = made;
        }
        if (team == SHMEM_TEAM_INVALID)
            throw std::runtime_error("no team");
    }
    ~Team() { shmem_team_destroy(team); }
    Team(const Team &) = delete;
    Team &operator=(const Team &) = delete;
    operator shmem_team_t() const { return team; }

  private:
    shmem_team_t team = SHMEM_TEAM_INVALID;
};

class Context
{
  public:
    explicit Context(shmem_team_t team)
    {
        if (shmem_team_create_ctx(team, SHMEM_CTX_PRIVATE, &ctx) != 0)
            throw std::runtime_error("no context");
    }
    ~Context() { shmem_ctx_destroy(ctx); }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
    operator shmem_ctx_t() const { return ctx; }

  private:
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
};

// Zeroed symmetric memory; creation and destruction are collective.
template <typename T> class SymmetricArray
{
  public:
    explicit SymmetricArray(std::size_t n)
        : count(n), first(static_cast<T *>(shmem_calloc(n, sizeof(T))))
    {
        if (first == nullptr)
            throw std::bad_alloc();
    }
    ~SymmetricArray() { shmem_free(first); }
    SymmetricArray(const SymmetricArray &) = delete;
    SymmetricArray &operator=(const SymmetricArray &) = delete;
    T &operator[](std::size_t i) { return first[i]; }
    std::size_t size() const { return count; }
    T *begin() { return first; }
    T *end() { return first + count; }

  private:
    std::size_t count;
    T *first;
};

// ---- table
class TableFull : public std::runtime_error
{
  public:
    explicit TableFull(Key key)
        : std::runtime_error("no slot for key " + std::to_string(key))
    {
    }
};

// Values that were added to a key; key 0 marks a free slot.  Each key is on one PE.
template <typename Value> class Table
{
  public:
    Table(shmem_team_t of, std::size_t slots)
        : team(of), ctx(of), npes(shmem_team_n_pes(of)), keys(slots), values(slots)
    {
    }

    void accumulate(Key key, Value value)
    {
        if (key == 0)
            throw std::invalid_argument("key 0");
        std::size_t slot = mix(key) % keys.size();
        for (std::size_t i = 0; i < keys.size(); i++, slot = (slot + 1) % keys.size()) {
            Key was = shmem_ctx_ulonglong_atomic_compare_swap(ctx, &keys[slot], 0, key,
                                                              owner(key));
            if (was == 0 || was == key) {
                add(ctx, &values[slot], value, owner(key));
                return;
            }
        }
        throw TableFull(key);
    }

    // The value and whether the key exists.
    std::pair<Value, bool> find(Key key)
    {
        std::size_t slot = mix(key) % keys.size();
        for (std::size_t i = 0; i < keys.size(); i++, slot = (slot + 1) % keys.size()) {
            Key was = shmem_ctx_ulonglong_atomic_fetch(ctx, &keys[slot], owner(key));
            if (was == key)
                return std::make_pair(fetch(ctx, &values[slot], owner(key)), true);
            if (was == 0)
                break;
        }
        return std::make_pair(Value(), false);
    }

    // Completes all additions on all PEs of the team.
    void sync()
    {
        shmem_ctx_quiet(ctx);
        shmem_team_sync(team);
    }

    Value sum_of_all()
    {
        SymmetricArray<Value> sums(2);
        for (const Value &value : values)
            sums[0] += value;
        sum_reduce(team, &sums[1], &sums[0], 1);
        return sums[1];
    }

    long local_keys()
    {
        long n = 0;
        for (Key key : keys)
            n += key != 0;
        return n;
    }

  private:
    // The finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, 2014).
    static Key mix(Key key)
    {
        key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ULL;
        key = (key ^ key >> 27) * 0x94d049bb133111ebULL;
        return key ^ key >> 31;
    }
    int owner(Key key) const
    {
        return static_cast<int>((mix(key) >> 32) % static_cast<Key>(npes));
    }

    shmem_team_t team;
    Context ctx;
    int npes;
    SymmetricArray<Key> keys;
    SymmetricArray<Value> values;
};

// ---- checks
static int errors;

static void check(bool ok, const char *what)
{
    if (!ok && errors++ == 0)
        std::fprintf(stderr, "hashmap: PE %d: %s\n", shmem_my_pe(), what);
}

// Few keys with many additions, then many keys with few.
static std::vector<Key> draw(int pe)
{
    std::vector<Key> drawn;
    Key x = static_cast<Key>(pe) + 1;
    for (int i = 0; i < 1500; i++) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        Key a = x >> 40 & 0xff, b = x >> 52 & 1;
        drawn.push_back(1 + (b ? a % 10 : a) * 1000003ULL);
    }
    return drawn;
}

// Each team fills its own table, which contains only the keys of its PEs.
template <typename Value> static void test_table(shmem_team_t team, Value unit)
{
    Table<Value> table(team, 512);
    std::map<Key, Value> model;
    Value sum = Value();
    for (Key key : draw(shmem_my_pe()))
        table.accumulate(key, unit * static_cast<Value>(key % 7));
    table.sync();
    for (int pe = 0; pe < shmem_team_n_pes(team); pe++)
        for (Key key : draw(shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD))) {
            model[key] += unit * static_cast<Value>(key % 7);
            sum += unit * static_cast<Value>(key % 7);
        }
    for (const auto &entry : model)
        check(table.find(entry.first) == std::make_pair(entry.second, true),
              "a key has another value than in the model");
    check(!table.find(2).second, "a key exists that was not added");
    check(table.sum_of_all() == sum, "the sum over the team is not the model's");
}

// The PEs fill the table until there is no space: each slot has one key.
static void test_full()
{
    static long counts[2], work[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    static long sync[_SHMEM_REDUCE_SYNC_SIZE], refused;
    for (long &word : sync)
        word = _SHMEM_SYNC_VALUE;
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    const Key mine = static_cast<Key>(me) * 1000000 + 1;
    Table<long> table(SHMEM_TEAM_WORLD, 16);
    bool thrown = false;
    for (Key key = mine; key < mine + 1000; key++) {
        try {
            table.accumulate(key, 1);
        } catch (const TableFull &full) {
            thrown = std::string(full.what()) == "no slot for key " + std::to_string(key);
            shmem_long_finc(&refused, 0);
        }
    }
    check(thrown, "a full table did not throw");
    table.sync();
    counts[0] = table.local_keys();
    check(counts[0] == 16, "a full table has a free slot");
    shmem_long_sum_to_all(&counts[1], &counts[0], 1, 0, 0, npes, work, sync);
    long left_out = shmem_long_fadd(&refused, 0, 0);
    check(counts[1] == npes * 1000L - left_out, "keys got lost");
}

static bool construct_fails()
{
    try {
        Table<long> table(SHMEM_TEAM_WORLD, SIZE_MAX / 16);
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

int main()
{
    Library library;
    try {
        Team half;
        test_table(SHMEM_TEAM_WORLD, 1L);
        test_table(SHMEM_TEAM_WORLD, 0.5);
        test_table(half, 3L);
        test_table(half, 0.25);
        test_full();
        check(construct_fails(), "a table larger than memory was made");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "hashmap: PE %d: %s\n", shmem_my_pe(), error.what());
        shmem_global_exit(1);
    }
    shmem_barrier_all();
    return errors != 0;
}
