package oneliner

import "testing"

func TestProgramsThatLoadFilesOnlyAskWhereNothingReachesThese(t *testing.T) {
	t.Parallel()
	for code, asks := range map[string]bool{
		`require('./a').ping().then(console.log)`:                         true,
		`const a = require('./a'); console.log('a', Object.keys(a))`:      true,
		`import {x} from './a.mjs'; console.log(x)`:                       true,
		`require('./a').ping().then(r => console.log(JSON.stringify(r)))`: true,
		`require('./a').call('text')`:                                     false,
		`require('./a').call(1)`:                                          false,
		`require('./a').deleteAll()`:                                      false,
		`require('./reset-db').call()`:                                    false,
		`require('../a').call()`:                                          false,
		`require('./b/../../a').call()`:                                   false,
		`require('./node_modules/a/b').call()`:                            false,
		`require('./.a/b').call()`:                                        false,
		`const a = require('./a'); a.b = 1; a.call()`:                     false,
		`const a = require('./a'); a['b'] = 1; a.call()`:                  false,
		`const a = require('./a'); console.log = a.call`:                  false,
		`const a = require('./a'); a.b()('text')`:                         false,
		`const a = require('./a'); [1].forEach(a.stop)`:                   false,
		`const a = require('./a'); a.ping().then(a.stop)`:                 false,
		`const a = require('./a'); const b = 'text'; a.call(b)`:           false,
		`const console = require('./a'); console.log('text')`:             false,
		`const a = require('./a'); console.log('a'.replace(/a/, a.call))`: false,
	} {
		e, read := Read("node", code)
		if got := read && len(e.Loads) > 0 && e.OnlyAsks; got != asks {
			t.Errorf("%s only asks: %v, want %v", code, got, asks)
		}
	}
}
