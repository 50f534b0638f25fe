package tables

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDestinationsAreReadStrictly(t *testing.T) {
	for table, wrong := range map[string]string{
		`{"a.test": [{"methods": ["GET"], "paths": ["/x/**"], "ports": [443], "private": true}]}`:         "",
		`{"*.a.test": [{}], "1.2.3.4": [{}], "2001:db8::1": [{}], "localhost": [{}]}`:                     "",
		`{"10.1.0.0/16": [{"private": true, "upload_mb": 5, "download_mb": 100}], "2001:db8::/32": [{}]}`: "",
		`{"10.1.2.3/16": [{}]}`:              "is written 10.1.0.0/16",
		`{"2001:DB8::/32": [{}]}`:            "is written 2001:db8::/32",
		`{"10.1.0.0/33": [{}]}`:              "no range of addresses",
		`{"a.test/16": [{}]}`:                "no range of addresses",
		`{"a.test": [{"upload_mb": -1}]}`:    "want a whole number",
		`{"A.test": [{}]}`:                   "is written a.test",
		`{"a.test.": [{}]}`:                  "is written a.test",
		`{"*": [{}]}`:                        "no name of a host",
		`{"*.com": [{}]}`:                    "belongs to many",
		`{"*.co.uk": [{}]}`:                  "belongs to many",
		`{"*.1.2.3.4": [{}]}`:                "no name of a host",
		`{"127.1": [{}]}`:                    "no name of a host",
		`{"a.*.test": [{}]}`:                 "no name of a host",
		`{"https://a.test": [{}]}`:           "no range of addresses",
		`{"2001:DB8::1": [{}]}`:              "no name of a host",
		`{"a.test": {}}`:                     "want a list",
		`{"a.test": [{"method": ["GET"]}]}`:  "nearest valid key",
		`{"a.test": [{"methods": ["get"]}]}`: "in capitals",
		`{"a.test": [{"paths": ["x"]}]}`:     "begins with /",
		`{"a.test": [{"ports": [0]}]}`:       "from 1 to 65535",
		`{"a.test": [{"ports": [65536]}]}`:   "from 1 to 65535",
		`{"a.test": [{"protocol": "udp"}]}`:  "udp",
	} {
		decoder := json.NewDecoder(strings.NewReader(`{"destinations": ` + table + `}`))
		decoder.UseNumber()
		var all any
		if err := decoder.Decode(&all); err != nil {
			t.Fatal(err)
		}
		faults := Check(all, nil)
		if wrong == "" && len(faults) > 0 || wrong != "" && (len(faults) != 1 || !strings.Contains(faults[0].Wrong, wrong)) {
			t.Errorf("%s: %v, want %q", table, faults, wrong)
		}
	}
}
