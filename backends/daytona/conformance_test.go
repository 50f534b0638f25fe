package daytona

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestConformance(t *testing.T) {
	c := newCloud(t)
	backendtest.Run(t, backendtest.Config{
		Name: "daytona",
		Open: func(t testing.TB) backends.Backend { return testBackend(t, c) },
		Spec: testSpec(),
		Without: map[string]string{
			"No more is written than the bound on the disk": "disks are bounded in whole GiB, which was not tried",
		},
		Break: func(t testing.TB, in backends.Sandbox) {
			c.find(in.ID()).lines.cut()
		},
	})
}
