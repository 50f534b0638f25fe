package guard

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
)

// maxCost bounds a condition in CEL's unit, about one operation: what it may be
// expected to cost when it is compiled, and what it may cost when it is evaluated.
const maxCost = 10_000_000

// affordable is nil for a condition that costs no more than it may for a large
// request of an ordinary kind, else a [*Fault].
func affordable(env *cel.Env, checked *cel.Ast) error {
	cost, err := env.EstimateCost(checked, largeRequest{})
	if err != nil {
		return &Fault{1, 1, err.Error()}
	}
	if cost.Max > maxCost {
		return &Fault{1, 1, "is too costly for large requests; loops within loops multiply"}
	}
	return nil
}

// largeRequest says how large the parts of a large request are. What is larger
// in fact is cut off when it is evaluated.
type largeRequest struct{}

const (
	largeText = 1 << 20
	longWord  = 256
	longList  = 64
)

// EstimateSize is the largest size to expect of a text, list or map.
func (largeRequest) EstimateSize(of checker.AstNode) *checker.SizeEstimate {
	size := uint64(longList)
	if kind := of.Type().Kind(); kind == types.StringKind || kind == types.BytesKind {
		size = longWord
		if path := of.Path(); len(path) > 0 && largeTexts[path[len(path)-1]] {
			size = largeText
		}
	}
	return &checker.SizeEstimate{Max: size}
}

// largeTexts are the fields that hold a whole text.
var largeTexts = map[string]bool{"command": true, "code": true, "stdin": true, "data": true, "arguments": true, "text": true}

// EstimateCallCost leaves the costs of CEL's own functions to CEL.
func (largeRequest) EstimateCallCost(function, _ string, _ *checker.AstNode, _ []checker.AstNode) *checker.CallEstimate {
	if function != "join" {
		return nil
	}
	size := checker.SizeEstimate{Max: longList * longWord}
	return &checker.CallEstimate{CostEstimate: checker.CostEstimate{Max: longList}, ResultSize: &size}
}
