package slack

import "time"

// Hurry has a connection be given up as silent so soon.
func (s *Slack) Hurry(silence time.Duration) { s.silence = silence }
