# make          the programs, into bin/
# make demo     the main job on shipped requests, in a real sandbox
# make check    lint, and the tests that start no other programs
# make test     installs and starts what the tests need, and runs them; those of make check under the race detector, too
# make test-all all tests under the race detector, and what takes long: more kills, more rounds
# make lint     what must stay clean
# make apptainer-test   the tests of backends/apptainer against the real program
# make synapse-test     the tests of gateway/chat/matrix against a real homeserver
# make dist VERSION=1.2.3   a release, into dist/: packages, images, bills of materials, checksums; signed with KEY=…
# make package-test     installs, upgrades and purges the Debian package of dist/ in a Debian of its own
# make deb-test         the same with a Debian package that is made for it
# make docs     the pages as a static site, in bin/site
# make bench    the comparisons of docs/performance.md

export CGO_ENABLED ?= 0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.linkedVersion=$(VERSION)
OPA     := go tool opa

.PHONY: build demo check test test-all apptainer-test synapse-test deps lint policies cross dist dist-test package-test deb-test docs bench bench-against conformance-table clean

# Tracing of grpc has the linker keep every method of everything: a fifth of bailiff, in memory too. Without -trimpath, which
# a release has, "go test" and the build cache of sandboxes take over what is compiled here of the standard library.
build:
	go build -tags grpcnotrace -ldflags '$(LDFLAGS)' -o bin/bailiff ./cmd/bailiff
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

check: lint policies
	go test -short ./...

test: deps policies
	BAILIFF_REQUIRE_ALL=1 go test -p 4 -timeout 25m ./...
	cd site && BAILIFF_REQUIRE_ALL=1 go test ./...
	CGO_ENABLED=1 go test -race -short -timeout 15m . ./app/... ./backends/... ./cmd/... ./enforcer/... ./gateway/... ./internal/...

test-all: deps policies apptainer-test synapse-test
	BAILIFF_TEST_ALL=1 BAILIFF_REQUIRE_ALL=1 CGO_ENABLED=1 go test -race -timeout 90m ./...

apptainer-test: build
	scripts/install-apptainer
	go test -c -o bin/apptainer.test ./backends/apptainer
	BAILIFF_TEST_RUNNER=$(CURDIR)/bin/bailiff-runner scripts/install-apptainer sh -c \
	  'cd backends/apptainer && ../../bin/apptainer.test -test.v -test.timeout 20m -test.run RealProgram'

synapse-test:
	scripts/install-synapse
	BAILIFF_TEST_SYNAPSE=$(CURDIR)/scripts/install-synapse go test -count=1 -timeout 20m ./gateway/chat/matrix

policies:
	$(OPA) test policies policy_test.rego
	$(OPA) check --strict -s policies/schema/input.json policies

lint:
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	test -z "$$(find . -name '*.go' | xargs awk '{ gsub("\t", "    ") } length > 140 { print FILENAME ":" FNR ": over 140 columns" }' | tee /dev/stderr)"
	go vet ./...
	go tool staticcheck ./...
	cd site && go vet ./... && $$(cd .. && go tool -n staticcheck) ./...
	test -z "$$($(OPA) fmt -l policies policy_test.rego | tee /dev/stderr)"
	$(OPA) check --strict -s policies/schema/input.json policies

# The programs of make build, for the platforms that it was not run on.
cross:
	out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT; \
	for target in $(filter-out $(shell go env GOOS)/$(shell go env GOARCH),linux/amd64 linux/arm64 darwin/arm64); do \
	  echo "building for $$target"; \
	  GOOS=$${target%/*} GOARCH=$${target#*/} go build -o "$$out/" ./cmd/... || exit 1; \
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

# Of the results that "BAILIFF_UPDATE_RESULTS=1 go test ./backends/NAME -run Conformance" writes.
conformance-table:
	BAILIFF_UPDATE_RESULTS=1 go test -count=1 -run TestTheTable ./backends/backendtest

clean:
	rm -rf bin
