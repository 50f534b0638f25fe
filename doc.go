// Package bailiff is the vocabulary that every other package speaks: a request
// of a chat session, the decision of the security team's policies about it,
// and the answer the caller gets.
//
// The words stand for one flow. An agent sends a [Request]. The policy decision
// point (PDP) judges it under its [Circumstances] and answers a [Judgement],
// whose [Decision] names an outcome, its reasons and the obligations: backend,
// variables, limits, approval. The policy enforcement point (PEP) records the
// decision, meets every obligation or refuses, and answers with an [Answer].
//
// Two promises hold throughout. The zero value denies: a Decision that was not filled
// in has the outcome [Deny]. And names travel while values do not: a variable's
// value exists only as a [Secret], which prints as "[secret]".
//
// The package imports the standard library only and does no I/O.
package bailiff
