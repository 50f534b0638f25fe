// Package gateway is the listeners at which agents and operators ask: the agent API, OPA's
// Data API beside it, and the operator API.
//
// A [Listener] is a Unix socket or a TCP port, with the clients that may connect, how
// fast they must be, and how many are served at once. Each listener has one handler: [NewAgent] for
// agents or [NewOperator] for operators, never both, so
// that no agent's listener serves an operator's route. The handler reads bytes
// strictly into a [bailiff.Request] (parse.go), checks the platform it
// claims, hands it to the [Enforcer] and writes the answer.
//
// What is promised:
//   - a request is understood whole or refused with every fault and the JSON
//     pointer of each: unknown names, repeated names, wrong types, arguments of
//     another tool, bytes that are not UTF-8;
//   - the caller is the listener, never something in the request, and a listener speaks
//     only for its own platforms, sessions and the calls of its own scripts;
//   - no client sends a call of a script (tool "call"): scripts make them, and the
//     agent answers those that it is told of ([Toolbox], tools.go);
//   - users that a listener does not list get 403 and nothing else;
//   - a person does what their role lets them ([OperatorConfig.Permit]), and a program that comes by a token what its scopes
//     cover ([WithScopes]): no scope answers or lifts anything;
//   - a client that goes away cancels its request, and a slow one is cut off;
//   - [Listener.Shutdown] returns only when no request is running any more, or when
//     its handler ignored cancellation for seconds.
//
// The API is described in openapi.yaml, which every listener serves at
// /v1/openapi.yaml and which the tests check against the running server.
//
// What is not here: the wire types (api), and judging, running and approving, which
// packages below do.
package gateway
