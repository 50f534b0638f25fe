package modal

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

// commandRouter is the service that starts programs in sandboxes.
type commandRouter struct {
	pb.UnimplementedTaskCommandRouterServer
	*cloud
}

// execution is a program in a sandbox.
type execution struct {
	stdin          io.WriteCloser
	stdout, stderr *record
	done           chan struct{}
	code           int32 // once done is closed

	mu      sync.Mutex // over the input
	written uint64
	closed  bool
}

// admitted is the sandbox of a task, for whoever has its key.
func (r commandRouter) admitted(ctx context.Context, task string) (*lent, error) {
	key, _ := strings.CutPrefix(first(ctx, "authorization"), "Bearer ")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sandboxes {
		if s.task != task {
			continue
		}
		if key != s.key {
			return nil, status.Error(codes.Unauthenticated, "no key to this task")
		}
		if s.over() {
			return nil, status.Errorf(codes.NotFound, "task %s is over", task)
		}
		return s, nil
	}
	return nil, status.Errorf(codes.NotFound, "no task %s", task)
}

func (r commandRouter) execution(ctx context.Context, task, id string) (*execution, error) {
	s, err := r.admitted(ctx, task)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.execs[id]; e != nil {
		return e, nil
	}
	return nil, status.Errorf(codes.NotFound, "no execution %s", id)
}

// TaskExecStart starts a program once, however often it is asked to.
func (r commandRouter) TaskExecStart(ctx context.Context, req *pb.TaskExecStartRequest) (*pb.TaskExecStartResponse, error) {
	s, err := r.admitted(ctx, req.GetTaskId())
	if err != nil {
		return nil, err
	}
	if slices.Equal(req.GetCommandArgs(), []string{"sync", "/workspace"}) {
		r.commit(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.execs[req.GetExecId()] == nil {
		begun, err := s.begin(req.GetCommandArgs())
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		s.execs[req.GetExecId()] = begun
	}
	return &pb.TaskExecStartResponse{}, nil
}

func (s *lent) begin(argv []string) (*execution, error) {
	if argv[0] == "/__modal/.bin/modal-sandbox-fs-tools" {
		return s.files(argv[1:])
	}
	p, err := s.machine.Start(machine.Cmd{Argv: argv, Env: s.environ()})
	if err != nil {
		return nil, err
	}
	e := &execution{stdin: p.Stdin, stdout: keep(p.Stdout), stderr: keep(p.Stderr), done: make(chan struct{})}
	go func() {
		e.code = int32(p.Wait())
		close(e.done)
	}()
	return e, nil
}

// files does what Modal's own program for files does: it writes its input to one.
func (s *lent) files(args []string) (*execution, error) {
	var order struct{ WriteFile struct{ Path string } }
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &order) != nil || order.WriteFile.Path == "" {
		return nil, errors.New("modal-sandbox-fs-tools: unknown order")
	}
	from, to := io.Pipe()
	e := &execution{stdin: to, stdout: keep(io.NopCloser(strings.NewReader(""))), stderr: keep(io.NopCloser(strings.NewReader(""))),
		done: make(chan struct{})}
	go func() {
		defer close(e.done)
		content, err := io.ReadAll(from)
		if err = errors.Join(err, s.machine.WriteFile(order.WriteFile.Path, content, 0o644, 0)); err != nil {
			e.code = 1
		}
	}()
	return e, nil
}

// TaskExecStdinWrite writes what was not written yet.
func (r commandRouter) TaskExecStdinWrite(ctx context.Context, req *pb.TaskExecStdinWriteRequest) (*pb.TaskExecStdinWriteResponse, error) {
	e, err := r.execution(ctx, req.GetTaskId(), req.GetExecId())
	if err != nil {
		return nil, err
	}
	return &pb.TaskExecStdinWriteResponse{}, e.write(req.GetOffset(), req.GetData(), req.GetEof())
}

func (e *execution) write(offset uint64, data []byte, eof bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if offset > e.written {
		return status.Errorf(codes.InvalidArgument, "input of %d goes on at %d", e.written, offset)
	}
	if done := e.written - offset; done < uint64(len(data)) {
		n, err := e.stdin.Write(data[done:])
		if e.written += uint64(n); err != nil {
			return status.Error(codes.FailedPrecondition, err.Error())
		}
	}
	if eof && !e.closed {
		e.closed = true
		return e.stdin.Close()
	}
	return nil
}

func (r commandRouter) TaskExecStdinWriteStream(from grpc.ClientStreamingServer[pb.TaskExecStdinWriteStreamRequest,
	pb.TaskExecStdinWriteStreamResponse]) error {
	got, err := from.Recv()
	if err != nil {
		return err
	}
	start := got.GetStart()
	e, err := r.execution(from.Context(), start.GetTaskId(), start.GetExecId())
	if err != nil {
		return err
	}
	for offset := start.GetOffset(); ; offset += uint64(len(got.GetData())) {
		if got, err = from.Recv(); err != nil {
			return err
		}
		if err := e.write(offset, got.GetData(), got.GetEnd() != nil); err != nil {
			return err
		}
		if got.GetEnd() != nil {
			return from.SendAndClose(&pb.TaskExecStdinWriteStreamResponse{})
		}
	}
}

func (r commandRouter) TaskExecStdinStatus(ctx context.Context, req *pb.TaskExecStdinStatusRequest) (*pb.TaskExecStdinStatusResponse,
	error) {
	e, err := r.execution(ctx, req.GetTaskId(), req.GetExecId())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return pb.TaskExecStdinStatusResponse_builder{NumBytesWritten: e.written, Closed: e.closed}.Build(), nil
}

func (r commandRouter) TaskExecWait(ctx context.Context, req *pb.TaskExecWaitRequest) (*pb.TaskExecWaitResponse, error) {
	e, err := r.execution(ctx, req.GetTaskId(), req.GetExecId())
	if err != nil {
		return nil, err
	}
	select {
	case <-e.done:
		return pb.TaskExecWaitResponse_builder{Code: &e.code}.Build(), nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

func (r commandRouter) TaskExecStdioRead(req *pb.TaskExecStdioReadRequest,
	to grpc.ServerStreamingServer[pb.TaskExecStdioReadResponse]) error {
	e, err := r.execution(to.Context(), req.GetTaskId(), req.GetExecId())
	if err != nil {
		return err
	}
	from := e.stdout
	if req.GetFileDescriptor() == pb.TaskExecStdioFileDescriptor_TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDERR {
		from = e.stderr
	}
	for offset := int64(req.GetOffset()); ; {
		data, err := from.after(to.Context(), offset, r.cloud.sips())
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := to.Send(pb.TaskExecStdioReadResponse_builder{Data: data}.Build()); err != nil {
			return err
		}
		offset += int64(len(data))
		if err := r.hinder(offset); err != nil {
			return err
		}
	}
}

func (c *cloud) sips() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sip
}

// remembered is how much of an output can be asked for again.
const remembered = 1 << 20

// record is an output, as far as it may be asked for.
type record struct {
	mu   sync.Mutex
	kept []byte
	from int64 // the offset of what is kept
	over bool
	news chan struct{} // closed when any of this changes
}

// keep reads an output to its end, not far ahead of whoever asks for it.
func keep(out io.ReadCloser) *record {
	r := &record{news: make(chan struct{})}
	go func() {
		defer out.Close()
		for buffer := make([]byte, 32<<10); ; {
			n, err := out.Read(buffer)
			if r.add(buffer[:n], err != nil); err != nil {
				return
			}
		}
	}()
	return r
}

func (r *record) add(data []byte, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if extra := len(r.kept) - remembered; extra > remembered {
		r.kept, r.from = append(r.kept[:0], r.kept[extra:]...), r.from+int64(extra)
	}
	r.kept, r.over = append(r.kept, data...), over
	close(r.news)
	r.news = make(chan struct{})
}

// after waits for what comes after an offset.
func (r *record) after(ctx context.Context, offset int64, most int) ([]byte, error) {
	for {
		r.mu.Lock()
		at, news, over := offset-r.from, r.news, r.over
		if at < 0 {
			r.mu.Unlock()
			return nil, status.Error(codes.OutOfRange, "it is forgotten")
		}
		if have := r.kept[at:]; len(have) > 0 {
			defer r.mu.Unlock()
			return append([]byte(nil), have[:min(len(have), most)]...), nil
		}
		r.mu.Unlock()
		if over {
			return nil, io.EOF
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
}
