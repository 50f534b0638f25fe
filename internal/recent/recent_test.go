package recent

import "testing"

func TestWhatIsRecentIsKept(t *testing.T) {
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
	if r.Take("a"); len(r.young)+len(r.old) > 4 {
		t.Errorf("kept are %v and %v", r.young, r.old)
	}
	if _, known := r.Get("a"); known {
		t.Error("what was to be forgotten is kept")
	}
}

func TestWhatIsTakenIsGoneAndTheNewest(t *testing.T) {
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
