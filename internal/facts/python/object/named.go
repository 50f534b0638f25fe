package object

import (
	"slices"
)

// ItemsAt are the values at one place of lists.
func ItemsAt(vs Objects, i int, name string) Objects {
	var out Objects
	for _, v := range vs {
		if v.Shape == IsList && i < len(v.Items) && !v.Open {
			out = out.With(v.Items[i])
			continue
		}
		out = out.With(Hidden(name, v.AllTaint()))
	}
	return out
}

// Named shows unknown values under the name of the variable that holds them.
func Named(vs Objects, name string) Objects {
	out := slices.Clone(vs)
	for i, v := range out {
		if v.Shape == IsUnknown {
			out[i].Text = name
		}
	}
	return out
}
