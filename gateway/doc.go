// Package gateway is the doors by which requests come in and operators look
// in: the agent API, OPA's Data API beside it, and the operator API.
//
// A [Door] is one listener: a Unix socket or a TCP port, who may come in by it,
// how fast they must be, and how many at once. Behind a door stands one
// handler: [NewAgent] for agents or [NewOperator] for operators, never both, so
// that no agent's door serves an operator's route. The handler reads bytes
// strictly into a [bailiff.Request] (parse.go), checks the platform it
// claims, hands it to the [Enforcer] and writes the answer.
//
// What is promised:
//   - a request is understood whole or refused with every fault and the JSON
//     pointer of each: unknown names, repeated names, wrong types, arguments of
//     another tool, bytes that are not UTF-8;
//   - the caller is the door, never something in the request, and a door speaks
//     only for its own platforms, sessions and the calls of its own scripts;
//   - no client sends a call of a script (tool "call"): scripts make them, and the
//     agent answers those that it is told of ([Toolbox], tools.go);
//   - users that a door does not list get 403 and nothing else;
//   - a client that goes away cancels its request, and a slow one is cut off;
//   - [Door.Shutdown] returns only when no request is running any more, or when
//     its handler ignored cancellation for seconds.
//
// The API is described in openapi.yaml, which every door serves at
// /v1/openapi.yaml and which the tests check against the running server.
//
// What is not here: the wire types (api), and judging, running and approving, which
// packages below do.
package gateway
