package backends_test

import (
	"regexp"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

func TestADigestIsAnothersForOtherParts(t *testing.T) {
	seen := map[string][]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"a"}, {"ab"}, {"a", "b"}, {"b", "a"}, {"1:a"}, {"a1:b"}} {
		digest := backends.Digest(parts...)
		if other, known := seen[digest]; known || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(digest) {
			t.Errorf("%q have the digest %s, as %q", parts, digest, other)
		}
		seen[digest] = parts
	}
}
