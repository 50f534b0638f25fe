package redact

// stream is where one pass over a text stands. Offsets count from its beginning.
type stream struct {
	at      int32  // the automaton's state
	joined  int32  // its state in the text without line breaks, the same but near a break
	breaks  []int  // offsets of line breaks that are not told yet
	running int    // how many line breaks were read last
	read    int    // bytes that the automaton has seen
	held    []byte // the last bytes read, not told yet
	pending []span // found, not told yet, in order and apart from each other
	out     []byte
}

// span is a stretch of the text covered by occurrences, the longest of which
// gives it its marker.
type span struct {
	start, end int
	marker     int32
	longest    int
}

func (s *stream) write(forms *automaton, chunk []byte) []byte {
	if forms.longest == 0 {
		return chunk
	}
	s.held = append(s.held, chunk...)
	for _, c := range chunk {
		s.step(forms, c)
	}
	until := s.read - int(forms.states[s.at].open)
	if s.joined != s.at {
		until = min(until, s.back(int(forms.states[s.joined].open)))
	}
	out := s.tell(forms, until)
	told := s.read - len(s.held)
	for len(s.breaks) > 0 && s.breaks[0] < told {
		s.breaks = s.breaks[1:]
	}
	return out
}

// step reads a byte.
func (s *stream) step(forms *automaton, c byte) {
	same := s.joined == s.at
	s.at = forms.step(s.at, c)
	s.read++
	isBreak := c == '\n' || c == '\r'
	switch {
	case isBreak && s.running < mostBreaks:
		s.running++
		s.breaks = append(s.breaks, s.read-1)
	case isBreak, same:
		s.joined = s.at
	default:
		s.joined = forms.step(s.joined, c)
	}
	if here := &forms.states[s.at]; here.found > 0 {
		s.cover(span{s.read - int(here.found), s.read, here.marker, int(here.found)})
	}
	if isBreak {
		return
	}
	s.running = 0
	if here := &forms.states[s.joined]; s.joined != s.at && here.found > 0 {
		s.cover(span{s.back(int(here.found)), s.read, here.marker, int(here.found)})
	}
}

// mostBreaks is how many bytes of line breaks a form may have in one place: "\r\n".
const mostBreaks = 2

// back is the offset so many bytes before the end that are no line breaks.
func (s *stream) back(n int) int {
	at := s.read
	if n == 0 {
		return at
	}
	for i := len(s.breaks) - 1; i >= 0 && at-(s.breaks[i]+1) < n; i-- {
		n -= at - (s.breaks[i] + 1)
		at = s.breaks[i]
	}
	return at - n
}

func (s *stream) flush(forms *automaton) []byte {
	out := s.tell(forms, s.read)
	*s = stream{out: s.out[:0]}
	return out
}

// cover adds an occurrence and joins it with the pending ones that it overlaps.
func (s *stream) cover(found span) {
	for len(s.pending) > 0 && s.pending[len(s.pending)-1].end > found.start {
		last := s.pending[len(s.pending)-1]
		s.pending = s.pending[:len(s.pending)-1]
		found.start = min(found.start, last.start)
		if last.longest >= found.longest {
			found.marker, found.longest = last.marker, last.longest
		}
	}
	s.pending = append(s.pending, found)
}

// tell returns the text up to an offset before which no occurrence can begin
// any more. A span that reaches beyond it may still grow and is kept.
func (s *stream) tell(forms *automaton, until int) []byte {
	s.out = s.out[:0]
	told := s.read - len(s.held)
	for len(s.pending) > 0 && s.pending[0].end <= until {
		next := s.pending[0]
		s.pending = s.pending[1:]
		told = s.plain(told, next.start)
		s.out = append(s.out, forms.markers[next.marker]...)
		told = s.drop(told, next.end)
	}
	if len(s.pending) > 0 && s.pending[0].start < until {
		told = s.plain(told, s.pending[0].start)
		s.drop(told, until)
		return s.out
	}
	s.plain(told, until)
	return s.out
}

// plain hands the held bytes between two offsets on as they are.
func (s *stream) plain(from, to int) int {
	if to <= from {
		return from
	}
	s.out = append(s.out, s.held[:to-from]...)
	return s.drop(from, to)
}

func (s *stream) drop(from, to int) int {
	if to <= from {
		return from
	}
	s.held = s.held[to-from:]
	return to
}
