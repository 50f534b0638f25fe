package backendtest

import (
	"context"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

// Open opens a sandbox that is closed with the test.
func Open(t testing.TB, backend backends.Backend, spec backends.Spec) backends.Sandbox {
	t.Helper()
	sandbox, err := backend.Open(t.Context(), spec)
	if err != nil {
		t.Fatalf("opening a sandbox: %v", err)
	}
	t.Cleanup(func() {
		if err := sandbox.Close(context.Background()); err != nil {
			t.Errorf("closing a sandbox: %v", err)
		}
	})
	return sandbox
}

// Opening opens a sandbox while the test goes on, and tells how that ended.
func Opening(ctx context.Context, backend backends.Backend, spec backends.Spec) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := backend.Open(ctx, spec)
		ended <- err
	}()
	return ended
}

// Output runs a script that the sandbox must not fail, and returns what it says.
func Output(t testing.TB, sandbox backends.Sandbox, script string) string {
	t.Helper()
	_, out := box{Sandbox: sandbox, t: t}.run(shell(script))
	return out
}

// Says wants a script to say something, however it ends.
func Says(t testing.TB, sandbox backends.Sandbox, script, want string) {
	t.Helper()
	if out := Output(t, sandbox, script); out != want {
		t.Errorf("%s\nsaid %q, want %q", script, out, want)
	}
}

// OnceSays does what Says does in a sandbox of its own.
func OnceSays(t testing.TB, backend backends.Backend, spec backends.Spec, script, want string) {
	t.Helper()
	if out := Once(t, backend, spec, script); out != want {
		t.Errorf("%s\nsaid %q, want %q", script, out, want)
	}
}

// Once runs a script in a sandbox of its own, which is closed after it.
func Once(t testing.TB, backend backends.Backend, spec backends.Spec, script string) string {
	t.Helper()
	sandbox, err := backend.Open(context.Background(), spec)
	Must(t, err)
	defer func() { NoError(t, sandbox.Close(context.Background())) }()
	return Output(t, sandbox, script)
}
