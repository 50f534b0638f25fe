package toolbox

import (
	"sync"

	"github.com/bailiff-dev/bailiff"
)

// Serial hands on news one at a time, since a script's output and its calls come
// at the same time.
func Serial(news func(bailiff.Progress)) func(bailiff.Progress) {
	var mu sync.Mutex
	return func(p bailiff.Progress) {
		mu.Lock()
		defer mu.Unlock()
		news(p)
	}
}
