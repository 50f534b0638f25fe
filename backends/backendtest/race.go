//go:build race

package backendtest

// underDetector says whether the race detector looks on.
const underDetector = true
