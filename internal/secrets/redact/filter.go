package redact

// filter tells in a fraction of the automaton's time that a text holds no form,
// which is so of nearly every text (after Wu and Manber, 1994). Where the last
// three bytes of a window are at home in the first eight of some form, it looks
// at the whole window; elsewhere it moves on by as many bytes as none can begin at.
type filter struct {
	shift []uint8 // by hash of three bytes
}

const (
	window   = shortest // no form is shorter
	block    = 3
	farthest = window - block + 1
)

func newFilter() filter {
	f := filter{make([]uint8, 1<<12)}
	for i := range f.shift {
		f.shift[i] = farthest
	}
	return f
}

func (f filter) add(form string) {
	for i := 0; i+block <= window; i++ {
		h := hash(form[i], form[i+1], form[i+2])
		f.shift[h] = min(f.shift[h], uint8(window-block-i))
	}
}

func hash(a, b, c byte) uint32 {
	return (uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 0x9e3779b1 >> 20
}

// candidate is the first offset at which a form may begin, or -1.
func (a *automaton) candidate(text []byte) int {
	if a.longest == 0 {
		return -1
	}
	for end := window; end <= len(text); {
		shift := int(a.filter.shift[hash(text[end-3], text[end-2], text[end-1])])
		if shift == 0 {
			if a.begins(text[end-window : end]) {
				return end - window
			}
			shift = 1
		}
		end += shift
	}
	return -1
}

// begins says whether some form begins with these bytes.
func (a *automaton) begins(text []byte) bool {
	at := int32(0)
	for _, c := range text {
		if at = a.child(at, c); at == 0 {
			return false
		}
	}
	return true
}
