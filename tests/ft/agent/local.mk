# SPDX-License-Identifier: BSD-3-Clause
# tests/ft/agent/local.mk - agents of several nodes, each in a process with the node segment
# of a node without OpenSHMEM, over the loopback interface.
check_PROGRAMS += tests/ft/agent/agents
tests_ft_agent_agents_SOURCES = tests/ft/agent/agents.c tests/ft/agent/job.c tests/ft/agent/job.h \
	$(steady)
tests_ft_agent_agents_LDADD = $(libpgas)
check_PROGRAMS += tests/ft/agent/mesh
tests_ft_agent_mesh_LDADD = $(libpgas)
check_PROGRAMS += tests/ft/agent/mesh_proxy
tests_ft_agent_mesh_proxy_LDADD = $(libpgas)
TESTS += tests/ft/agent/agents tests/ft/agent/mesh tests/ft/agent/mesh_proxy

check_PROGRAMS += tests/ft/agent/watchdog
TESTS += tests/ft/agent/watchdog.sh
EXTRA_DIST += tests/ft/agent/watchdog.sh
