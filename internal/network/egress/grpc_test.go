package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// Calls of gRPC are requests of HTTP/2, whose paths name service and method; their results come
// in trailers.
func TestCallsOfGRPCAreJudgedByServiceAndMethod(t *testing.T) {
	certificate, roots := certified(t, "allowed.test")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{*certificate}})))
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	w := &world{opens: true, roots: roots, names: map[string][]string{"allowed.test": {"127.0.0.1"}},
		allowed: map[string]bool{"https allowed.test": true, "https allowed.test POST": true},
		denied:  map[string]bool{"POST /grpc.health.v1.Health/List": true}}
	proxy, host := proxied(t, w, listener.Addr().String()), "allowed.test:"+port(listener.Addr().String())
	trusted := credentials.NewTLS(&tls.Config{RootCAs: trusting(t)})
	conn, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(trusted),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return connected(proxy, host) }))
	must(t, err)
	defer conn.Close()
	ctx := awaittest.Context(t)
	client := grpc_health_v1.NewHealthClient(conn)
	answer, err := client.Check(ctx, new(grpc_health_v1.HealthCheckRequest))
	if err != nil || answer.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("a call: %v %v", answer, err)
	}
	if _, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "gone"}); status.Code(err) != codes.NotFound {
		t.Errorf("a call whose result is an error: %v", err)
	}
	watching, err := client.Watch(ctx, new(grpc_health_v1.HealthCheckRequest))
	must(t, err)
	if first, err := watching.Recv(); err != nil || first.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("a call whose results go on: %v %v", first, err)
	}
	if _, err := client.List(ctx, new(grpc_health_v1.HealthListRequest)); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a call of a method that no row names: %v", err)
	}
}

// connected opens a tunnel by CONNECT.
func connected(proxy, host string) (net.Conn, error) {
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", host); err != nil {
		return nil, err
	}
	from := bufio.NewReader(conn)
	answer, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("CONNECT was answered %s", answer.Status)
	}
	return &buffered{conn, from}, err
}
