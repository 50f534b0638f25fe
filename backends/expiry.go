package backends

import "time"

// Ends is when a sandbox of the spec that is made now is over at the latest.
func (s Spec) Ends(now time.Time, longest time.Duration) time.Time {
	latest := now.Add(longest)
	if !s.Expires.IsZero() && s.Expires.Before(latest) {
		return s.Expires
	}
	return latest
}
