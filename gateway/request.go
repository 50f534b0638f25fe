package gateway

import "github.com/bailiff-dev/bailiff"

// ParseRequest reads a request as strictly as the agent API does, for programs
// that take one from a file. The error is a [*Problem] with every fault.
func ParseRequest(body []byte) (bailiff.Request, error) {
	req, p := parse(body)
	if p != nil {
		return bailiff.Request{}, p
	}
	return req, nil
}
