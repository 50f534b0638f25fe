package docker

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestAWorkspaceOfAnyShapeIsRemoved(t *testing.T) {
	testEngine(t)
	spec := testSpec(t)
	spec.Workspace, spec.DiskMB = "shape", 0
	t.Cleanup(func() { removeAll(t, spec.Owner) })
	backendtest.RemovesAnyWorkspace(t, testBackend(t), spec)
}
