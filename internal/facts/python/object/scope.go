package object

import (
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

// Variable is what a name may hold.
type Variable struct {
	// Now is what it holds here, ever what it holds anywhere; loose says that a
	// loop or another function assigns it, so that it may hold any of these here.
	Now, Ever Objects
	// Given is what calls give a parameter.
	Given Objects
	Loose bool
}

// Function is a function, or a class by its constructor.
type Function struct {
	Define  *syntax.Statement
	Scope   *Scope
	Method  bool
	Class   bool
	Members map[string]*Function
	// Base is what a class derives from, as far as it is imported.
	Base string
	// Bases are those of the program's own.
	Bases []*Function
	// Escaped says that something unknown may call it.
	Escaped bool
	Returns Objects
	// Yields are what a generator gives one after the other.
	Yields   Objects
	Yielding bool
}

// Scope is where names live: the program, a function or a class.
type Scope struct {
	Vars   map[string]*Variable
	Parent *Scope
	Class  bool
	// Brief marks that of a comprehension or lambda.
	Brief bool
	// Global and outer are the names that belong to the program, and to a function around this one.
	Global, Outer map[string]bool
}

// Holds is the scope in which a name is assigned here.
func (s *Scope) Holds(name string) *Scope {
	switch in := s; {
	case s.Global[name]:
		for in.Parent != nil {
			in = in.Parent
		}
		return in
	case s.Outer[name]:
		for in = s.Parent; in.Parent != nil; in = in.Parent {
			if in.Vars[name] != nil && !in.Class && !in.Global[name] && !in.Outer[name] {
				break
			}
		}
		return in
	}
	return s
}

// Lasting is the scope around comprehensions and lambdas.
func (s *Scope) Lasting() *Scope {
	for s.Brief {
		s = s.Parent
	}
	return s
}

// Forget drops what variables hold now.
func (s *Scope) Forget() {
	for _, v := range s.Vars {
		v.Now = nil
	}
}

// maxBases is how many classes above one another are looked at for a constructor.
const maxBases = 6

// Constructor is what a class runs when it is called, its own or that of a class above.
func (f *Function) Constructor(depth int) *Function {
	if init := f.Members["__init__"]; init != nil || depth > maxBases {
		return init
	}
	for _, base := range f.Bases {
		if init := base.Constructor(depth + 1); init != nil {
			return init
		}
	}
	return nil
}

// Gives is what a call of a function returns.
func (f *Function) Gives() Objects {
	if !f.Yielding {
		return f.Returns
	}
	given := f.Yields.With(Hidden("value", f.Yields.Tainted()))
	return f.Returns.With(Objects{{Shape: IsList, Items: []Objects{given}, Open: true}})
}
