package redact

// stream is where one pass over a text stands. Offsets count from its beginning.
type stream struct {
	at      int32  // the automaton's state
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
		s.at = forms.step(s.at, c)
		s.read++
		if here := &forms.states[s.at]; here.found > 0 {
			s.cover(span{s.read - int(here.found), s.read, here.marker, int(here.found)})
		}
	}
	return s.tell(forms, s.read-int(forms.states[s.at].open))
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
