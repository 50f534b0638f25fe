# In brackets: seconds on two cores that do nothing else, where they were measured.
#
# make build    the programs, into bin/; what make does, too [7 once compiled]
# make demo     the main job on shipped requests, in a real sandbox
# make check    lint, and the tests that start no other programs
# make test     installs and starts what the tests need, and runs them: deps, policies and the next three
# make test-plain   what runs without the race detector, as whole programs do [680 with TMPDIR in memory, else 1,400]
# make test-race    where goroutines meet, under the race detector [250, and 200 to compile]
# make test-site    the tests of the site
# make test-all     all tests under the race detector, and what takes long: more kills, more rounds
# make clients-test     the tests with real agents and clients, those that take long too
# make fleet-test   the tests of sidecars that share a database, and of kills, with all of their rounds
# make apptainer-test   the tests of backends/apptainer against the real program
# make kubernetes-test  the tests of pods and of the chart, against a real Kubernetes of one node [600 once, then 200]
# make synapse-test     the tests of gateway/chat/matrix against a real homeserver
# make deps     installs and starts what the tests need [109 once]
# make lint     what must stay clean [60]
# make policies     the tests of the shipped policies [3]
# make cross    the programs, for the platforms that this is not [90 with nothing compiled]
# make dist VERSION=1.2.3   a release, into dist/: packages, images, bills of materials, checksums; signed with KEY=…
# make dist-test    the tests of what makes a release
# make package-test     installs, upgrades and purges the Debian package of dist/ in a Debian of its own
# make deb-test     the same with a Debian package that is made for it
# make docs     the pages as a static site, in bin/site
# make bench    the comparisons of docs/performance.md
# make bench-against COMMIT=bc00c14     some of them of this tree and an earlier one, side by side
# make bench-reload COMMIT=bc00c14      how long saves of policies take, of this tree and an earlier one
# make conformance-table    the table of docs/backends/conformance.md
# make program-index    the index of programs anew, from the package data of this machine's Debian
# make clean    removes bin/
# make help     this list

export CGO_ENABLED ?= 0
# Tracing of grpc has the linker keep every method of everything: a fifth of bailiff, in memory too. All that is built and
# tested is built the same way, so that nothing is compiled twice.
export GOFLAGS := $(filter-out -tags=%,$(shell go env GOFLAGS)) -tags=grpcnotrace
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.linkedVersion=$(VERSION)
OPA     := go tool opa

# What lint has vetted is not vetted again, and tables for a debugger are a third of linking. A run of .ci/run has Go note
# where the time goes; it has no result kept, since Go would read all that the tests read once more for that.
GOTEST  := go test -vet=off -ldflags='-s -w'
graph    = $(if $(BAILIFF_TIMES),-count=1 -debug-actiongraph=$(BAILIFF_TIMES)/$(1).graph)

# Packages that start goroutines or are called by many at once: their tests run under the race detector, and nowhere else.
# Those that take longest begin first.
RACED := $(addprefix ./,gateway/chat metrics enforcer/... gateway/chat/... gateway/client gateway/mcp/... backends/kernel backends/loop \
	backends/runner/... backends/workdirs examples/go/... $(addprefix internal/,secrets/... fleet/... login/... \
	$(addprefix record/,audit export records syslog traces) \
	$(addprefix network/,egress/... httpapi names reach remote/... throttle) \
	judging/bundle judging/guard judging/rows host/nice host/subprocess text/headtail recent tests/scripted))
# Of these, most tests start other programs or evaluate policies, which takes the detector ten times as long and shows it
# nothing: the short ones run under it too.
RACED_SHORT := $(addprefix ./,internal/project/snapshot internal/approval internal/approval/file internal/approval/shared internal/pdp \
	$(addprefix internal/pdp/,background evaluation memo policyset regotest rulecache) gateway gateway/console app backends/apptainer \
	backends/bubblewrap backends/daytona backends/docker backends/kubernetes backends/local backends/modal backends/ssh/... backends/vercel \
	cmd/bailiff cmd/bailiff/setup cmd/bailiff-hook cmd/bailiff-runner/... \
	internal/judging/replay internal/project/carry)

.PHONY: build demo check test test-plain test-race test-site test-all clients-test fleet-test apptainer-test kubernetes-test synapse-test deps lint \
	policies cross dist dist-test package-test deb-test docs bench bench-against bench-reload conformance-table program-index clean help

# Without -trimpath, which a release has, "go test" and the build cache of sandboxes take over what is compiled here of the
# standard library.
build:
	go build -ldflags '$(LDFLAGS)' -o bin/bailiff ./cmd/bailiff
	go build -ldflags '-s -w' -o bin/bailiff-runner ./cmd/bailiff-runner
	go build -ldflags '-s -w' -o bin/bailiff-hook ./cmd/bailiff-hook
	go build -ldflags '-s -w' -o bin/bailiff-host ./cmd/bailiff-host

demo: build
	@scripts/demo-deps
	@bin/bailiff demo

deps:
	scripts/install-deps
	scripts/start-docker
	scripts/make-image
	scripts/install-clients
	scripts/install-axe

# A process of tests ends before its memory matters: with fewer collections those that evaluate policies take a fifth less time.
check test-plain test-race: export GOGC ?= 400

check: lint policies
	$(GOTEST) -short ./...

test: deps policies test-plain test-race test-site

test-plain:
	BAILIFF_REQUIRE_ALL=1 $(GOTEST) $(call graph,test) -p 4 -timeout 25m \
	  $$(go list ./... | grep -vxF "$$(go list $(RACED))")

test-race: export CGO_ENABLED = 1
test-race:
	BAILIFF_REQUIRE_ALL=1 $(GOTEST) $(call graph,race) -race -p 4 -timeout 25m $(RACED)
	$(GOTEST) $(call graph,race-short) -race -short -timeout 15m $(RACED_SHORT)

# Go remembers no files outside a module, and the pages lie outside of this one.
test-site:
	cd site && BAILIFF_REQUIRE_ALL=1 $(GOTEST) -count=1 ./...

test-all: export BAILIFF_TEST_ALL = 1
test-all: deps policies apptainer-test synapse-test
	BAILIFF_REQUIRE_ALL=1 CGO_ENABLED=1 $(GOTEST) -race -timeout 90m ./...

clients-test: deps
	BAILIFF_TEST_ALL=1 BAILIFF_REQUIRE_ALL=1 $(GOTEST) -count=1 -timeout 60m ./cmd/bailiff ./cmd/bailiff-hook ./examples/ai-sdk \
	  ./examples/hermes ./gateway/client ./gateway/mcp ./internal/tests/apptest ./internal/agents/hermes

fleet-test: deps
	BAILIFF_TEST_ALL=1 BAILIFF_REQUIRE_ALL=1 $(GOTEST) -count=1 -timeout 60m ./app ./internal/approval ./internal/approval/shared ./internal/record/audit \
	  ./internal/fleet ./internal/fleet/postgres

apptainer-test: build
	scripts/install-apptainer
	go test -c -o bin/apptainer.test ./backends/apptainer
	BAILIFF_TEST_RUNNER=$(CURDIR)/bin/bailiff-runner scripts/install-apptainer sh -c \
	  'cd backends/apptainer && ../../bin/apptainer.test -test.v -test.timeout 20m -test.run RealProgram'

# Helm has a module of its own, so that its libraries are none of bailiff's.
kubernetes-test: build
	scripts/install-kubernetes
	go test -c -o bin/kubernetes.test ./backends/kubernetes
	cd charts && go build -o ../bin/ helm.sh/helm/v3/cmd/helm && go test -c -o ../bin/chart.test .
	BAILIFF_TEST_RUNNER=$(CURDIR)/bin/bailiff-runner scripts/install-kubernetes sh -c \
	  'cd backends/kubernetes && ../../bin/kubernetes.test -test.v -test.timeout 30m'
	BAILIFF_TEST_RUNNER=$(CURDIR)/bin/bailiff-runner scripts/install-kubernetes sh -c \
	  'cd charts && PATH=$(CURDIR)/bin:$$PATH ../bin/chart.test -test.v -test.timeout 20m'

synapse-test:
	scripts/install-synapse
	BAILIFF_TEST_SYNAPSE=$(CURDIR)/scripts/install-synapse go test -count=1 -timeout 20m ./gateway/chat/matrix

policies:
	$(OPA) test --timeout 10m policies policy_test.rego
	$(OPA) check --strict -s policies/schema/input.json policies

lint:
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	test -z "$$(find . -name '*.go' -o -name '*.rego' | xargs awk '{ gsub("\t", "    ") } length > 140 { print FILENAME ":" FNR ": over 140 columns" }' | tee /dev/stderr)"
	go vet ./...
	go tool staticcheck ./...
	cd site && go vet ./... && $$(cd .. && go tool -n staticcheck) ./...
	test -z "$$($(OPA) fmt -l policies policy_test.rego | tee /dev/stderr)"
	$(OPA) check --strict -s policies/schema/input.json policies

# The programs of make build, for the systems that it was not run on. For another processor the runner is enough, which alone
# has files for each; make dist builds all programs for all.
cross:
	out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT; \
	for system in $(filter-out $(shell go env GOOS),linux darwin); do \
	  echo "building for $$system/arm64"; \
	  GOOS=$$system GOARCH=arm64 go build -o "$$out/" ./cmd/... || exit 1; \
	done; \
	for processor in amd64 arm64; do \
	  echo "building the runner for linux/$$processor"; \
	  GOOS=linux GOARCH=$$processor go build -o "$$out/" ./cmd/bailiff-runner || exit 1; \
	done

# What makes it is a module of its own, so that its libraries are none of bailiff's.
dist:
	cd release && go run . -version '$(VERSION)' -out dist $(if $(KEY),-sign '$(abspath $(KEY))')

dist-test:
	cd release && go vet ./... && $$(cd .. && go tool -n staticcheck) ./... && go test ./...

package-test:
	scripts/test-package dist

# What makes the other packages is not needed for it, and the date does not matter.
deb-test:
	out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && \
	(cd release && SOURCE_DATE_EPOCH=$$(date +%s) go run -tags debonly . -version 0.1.0 -arch "$$(go env GOARCH)" -out "$$out") && \
	scripts/test-package "$$out"

# A module of its own, too; a link that leads nowhere is an error.
docs:
	cd site && go run .

bench: deps
	go test -run '^$$' -bench . ./...

# Of this tree and an earlier one, side by side: make bench-against COMMIT=bc00c14.
bench-against:
	BAILIFF_BENCH_AGAINST=$(or $(COMMIT),$(error say which: make bench-against COMMIT=…)) go test -run '^$$' -bench Against -benchtime 5s ./app

# How long saves of policies take until a decision follows them, of this tree and an earlier one.
bench-reload:
	BAILIFF_BENCH_AGAINST=$(or $(COMMIT),$(error say which: make bench-reload COMMIT=…)) go test -run '^$$' -bench Saves -benchtime 1x -timeout 60m ./app

# Of the results that "BAILIFF_UPDATE_RESULTS=1 go test ./backends/NAME -run Conformance" writes.
conformance-table:
	BAILIFF_UPDATE_RESULTS=1 go test -count=1 -run TestTheTable ./backends/backendtest

program-index:
	go run ./scripts/programindex internal/facts/programs/index/index.bin

clean:
	rm -rf bin

help:
	@sed -n 's/^# make/make/p' Makefile
