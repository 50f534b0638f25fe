package object

// A list, a dictionary and a bytearray are things, which several names may reach. What changes one by a name is followed where
// that name alone reaches it. What changes it otherwise, or code that is not followed and was given it, leaves it unknown, by
// whatever name it is looked at and before the change too, since the order in which functions run is not followed.

// Made is where a program makes such a thing.
type Made struct {
	// Holder is the first variable that holds it, shared says that it is reached by more than that.
	Holder *Variable
	Shared bool
	// Loose says that it was changed in a way that is not followed.
	Loose bool
}

// Changeable says that a value can be changed in its place.
func (v Object) Changeable() bool { return v.Shape == IsList || v.Shape == IsDict || v.Buffer }

// Held notes that a variable holds values.
func Held(v *Variable, vs Objects) {
	for _, one := range vs {
		switch m := one.Made; {
		case m == nil || m.Holder == v:
		case m.Holder == nil:
			m.Holder = v
		default:
			m.Shared = true
		}
	}
}

// Share notes that values are reached by more than a variable.
func Share(vs Objects) {
	for _, v := range vs {
		if v.Made != nil {
			v.Made.Shared = true
		}
	}
}
