package recent

import "testing"

func TestWhatIsRecentIsKept(t *testing.T) {
	t.Parallel()
	r := New[string, int](2)
	for i, key := range []string{"a", "b", "a", "c", "a", "d", "e", "a"} {
		if key == "a" && i > 0 {
			if _, known := r.Get("a"); !known {
				t.Errorf("after %d what is looked at is forgotten", i)
			}
		} else {
			r.Put(key, i)
		}
	}
	if _, known := r.Get("b"); known {
		t.Error("what is old is kept")
	}
	if r.Take("a"); r.Len() > 4 {
		t.Errorf("%d are kept", r.Len())
	}
	if _, known := r.Get("a"); known {
		t.Error("what was to be forgotten is kept")
	}
}

func TestWhatIsTakenIsGoneAndTheNewest(t *testing.T) {
	t.Parallel()
	m := New[string, int](1)
	m.Put("a", 1)
	m.Put("b", 2) // after which "a" is of long ago
	m.Put("a", 3)
	if v, known := m.Take("a"); v != 3 || !known {
		t.Errorf("it is %d, %v", v, known)
	}
	if v, known := m.Take("a"); known {
		t.Errorf("it is still %d", v)
	}
}

func TestWhatIsSoIsForgottenWhereverItIs(t *testing.T) {
	t.Parallel()
	m := New[int, int](2)
	for n := range 4 {
		m.Put(n, n%2)
	}
	m.ForgetAll(func(v int) bool { return v == 1 })
	for n := range 4 {
		if _, known := m.Get(n); known != (n%2 == 0) {
			t.Errorf("that %d is known is %v", n, known)
		}
	}
}

func TestSizesAreBoundedLikeNumbers(t *testing.T) {
	t.Parallel()
	m := NewSized[int](100, 10, func(v string) int { return len(v) })
	total := func() (size int) {
		for _, generation := range []map[int]string{m.young, m.old} {
			for _, v := range generation {
				size += len(v)
			}
		}
		return size
	}
	for n := range 50 {
		m.Put(n, "four")
		m.Put(n, "1234") // takes the place of the other
		if n%7 == 0 {
			m.Take(n)
			m.ForgetAll(func(v string) bool { return v == "none" })
		} else if _, known := m.Get(n); !known {
			t.Fatalf("%d is forgotten at once", n)
		}
		if total() > 20 {
			t.Fatalf("after %d the values have a size of %d", n, total())
		}
	}
	m.Put(1, "as large as it may be")
	if v, known := m.Get(1); !known || v == "" {
		t.Error("a value that is too large alone is forgotten before another one comes")
	}
}
