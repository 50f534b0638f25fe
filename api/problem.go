package api

// Problem is the body of every answer that is not 2xx.
type Problem struct {
	// Code names the problem for programs, Message says it in one sentence.
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Errors  []Fault `json:"errors"`

	// Status is the answer's, of HTTP.
	Status int `json:"-"`
}

// Fault is one thing wrong with a request, and where, as a JSON pointer.
type Fault struct {
	At      string `json:"at"`
	Message string `json:"message"`
}

func (p *Problem) Error() string { return p.Message }
