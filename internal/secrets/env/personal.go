package env

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff"
)

// Personal are the variables that each person has apart, in dotenv files of their own. No value of one person is ever another's.
// They may be used concurrently; nil ones hold nothing.
type Personal struct {
	mu sync.Mutex
	of map[string]*Sources
	// gone are those of people who have none any more.
	gone []*Sources
	// generation counts what was taken over, and holds the generations of the sources before.
	generation uint64
}

// OpenPersonal returns those of the files as listed for each person, with "~" standing for home.
func OpenPersonal(files map[string][]string, home string) (*Personal, error) {
	p := &Personal{of: map[string]*Sources{}}
	for person, list := range files {
		sources, err := Open(list, home)
		if err != nil {
			return nil, fmt.Errorf("variables of %s: %w", person, err)
		}
		p.of[person] = sources
	}
	return p, nil
}

// Replace has other files in the place of these. What was handed out stays a secret.
func (p *Personal) Replace(next *Personal) {
	generation := p.Generation()
	p.mu.Lock()
	defer p.mu.Unlock()
	for person, s := range next.of {
		if before := p.of[person]; before != nil {
			s.remember(before)
		}
	}
	for person, s := range p.of {
		if next.of[person] == nil {
			p.gone = append(p.gone, s)
		}
	}
	p.of, p.generation = next.of, generation+1
}

// sources are a person's; nil where there are none.
func (p *Personal) sources(person string) *Sources {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[person]
}

// each are the sources of all people, by their names in order.
func (p *Personal) each() (all []*Sources) {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, person := range slices.Sorted(maps.Keys(p.of)) {
		all = append(all, p.of[person])
	}
	return all
}

// Available returns those of the names that a source of the person holds.
func (p *Personal) Available(person string, names []string) []string {
	if s := p.sources(person); s != nil {
		return s.Available(names)
	}
	return nil
}

// Value returns the person's own value of a name.
func (p *Personal) Value(person, name string) (bailiff.Secret, bool) {
	if s := p.sources(person); s != nil {
		return s.Value(name)
	}
	return bailiff.Secret{}, false
}

// Values are those that people have of a name.
func (p *Personal) Values(name string) (all []bailiff.Secret) {
	for _, s := range p.each() {
		if value, ok := s.Value(name); ok {
			all = append(all, value)
		}
	}
	return all
}

// Err says which files cannot be read; it is nil when all can.
func (p *Personal) Err() error {
	var errs []error
	for _, s := range p.each() {
		errs = append(errs, s.Err())
	}
	return errors.Join(errs...)
}

// Warnings are sentences about files that more people than their owner may read.
func (p *Personal) Warnings() (all []string) {
	for _, s := range p.each() {
		all = append(all, s.Warnings()...)
	}
	return all
}

// Generation changes whenever [Personal.Secrets] would yield something else, and never goes back.
func (p *Personal) Generation() (sum uint64) {
	for _, s := range p.each() {
		sum += s.Generation()
	}
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		sum += p.generation
	}
	return sum
}

// Secrets yields those of all people, as [Sources.Secrets] does, those of people who have none any more among them.
func (p *Personal) Secrets() iter.Seq2[string, bailiff.Secret] {
	return func(yield func(string, bailiff.Secret) bool) {
		all := p.each()
		if p != nil {
			p.mu.Lock()
			all = append(all, p.gone...)
			p.mu.Unlock()
		}
		for _, s := range all {
			for name, value := range s.Secrets() {
				if !yield(name, value) {
					return
				}
			}
		}
	}
}

// remember takes over which names were handed out before.
func (s *Sources) remember(before *Sources) {
	before.mu.Lock()
	asked := maps.Clone(before.asked)
	before.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.asked, asked)
}
