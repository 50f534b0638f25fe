package modal

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// controlPlane is the service that makes and ends sandboxes.
type controlPlane struct {
	pb.UnimplementedModalClientServer
	*cloud
}

func (controlPlane) AuthTokenGet(context.Context, *pb.AuthTokenGetRequest) (*pb.AuthTokenGetResponse, error) {
	return pb.AuthTokenGetResponse_builder{Token: jwt("test", time.Hour)}.Build(), nil
}

func (p controlPlane) AppGetOrCreate(_ context.Context, req *pb.AppGetOrCreateRequest) (*pb.AppGetOrCreateResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.apps[req.GetAppName()] == "" {
		p.apps[req.GetAppName()] = "ap-" + rand.Text()[:22]
	}
	return pb.AppGetOrCreateResponse_builder{AppId: p.apps[req.GetAppName()]}.Build(), nil
}

func (controlPlane) EnvironmentGetOrCreate(_ context.Context, req *pb.EnvironmentGetOrCreateRequest) (*pb.EnvironmentGetOrCreateResponse,
	error) {
	return pb.EnvironmentGetOrCreateResponse_builder{EnvironmentId: "en-1", Metadata: pb.EnvironmentMetadata_builder{
		Name: req.GetDeploymentName(), Settings: pb.EnvironmentSettings_builder{ImageBuilderVersion: "2026.01"}.Build(),
	}.Build()}.Build(), nil
}

func (p controlPlane) ImageGetOrCreate(_ context.Context, req *pb.ImageGetOrCreateRequest) (*pb.ImageGetOrCreateResponse, error) {
	commands := req.GetImage().GetDockerfileCommands()
	name, is := strings.CutPrefix(commands[0], "FROM ")
	if !is || len(commands) != 1 || strings.ContainsAny(name, " \n\t$") {
		p.tb.Errorf("an image is to be built by %q", commands)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id, known := p.images[name]
	switch {
	case !known:
		return pb.ImageGetOrCreateResponse_builder{ImageId: "im-none", Result: pb.GenericResult_builder{
			Status: pb.GenericResult_GENERIC_STATUS_FAILURE, Exception: "no such image:\n\tmanifest unknown"}.Build()}.Build(), nil
	case p.building[name]:
		return pb.ImageGetOrCreateResponse_builder{ImageId: id}.Build(), nil
	}
	return pb.ImageGetOrCreateResponse_builder{ImageId: id, Result: succeeded()}.Build(), nil
}

func succeeded() *pb.GenericResult {
	return pb.GenericResult_builder{Status: pb.GenericResult_GENERIC_STATUS_SUCCESS}.Build()
}

func (p controlPlane) ImageJoinStreaming(_ *pb.ImageJoinStreamingRequest,
	to grpc.ServerStreamingServer[pb.ImageJoinStreamingResponse]) error {
	log := pb.ImageJoinStreamingResponse_builder{EntryId: "1-0"}.Build()
	return errorsOf(to.Send(log), to.Send(pb.ImageJoinStreamingResponse_builder{EntryId: "2-0", Result: succeeded(), Eof: true}.Build()))
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// SandboxCreateV2 answers a call that is repeated as it did the first time.
func (p controlPlane) SandboxCreateV2(ctx context.Context, req *pb.SandboxCreateV2Request) (*pb.SandboxCreateV2Response, error) {
	key := first(ctx, "x-idempotency-key")
	p.mu.Lock()
	before, err := p.created[key], p.claim(req)
	p.mu.Unlock()
	if before != nil {
		return before, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := p.lend(req)
	if err != nil {
		p.tb.Error(err)
		return nil, status.Error(codes.Internal, err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.created[key] = pb.SandboxCreateV2Response_builder{SandboxId: s.id, TaskId: s.task,
		CommandRouterAccess: pb.CommandRouterAccess_builder{Url: p.router, Jwt: s.key}.Build()}.Build()
	return p.created[key], nil
}

// claim is nil for a sandbox that can be made of what there is.
func (p controlPlane) claim(req *pb.SandboxCreateV2Request) error {
	want := req.GetDefinition()
	if !slices.ContainsFunc(values(p.apps), func(id string) bool { return id == req.GetAppId() }) {
		return status.Errorf(codes.NotFound, "no app %s", req.GetAppId())
	}
	if !slices.Contains(values(p.images), want.GetImageId()) {
		return status.Errorf(codes.NotFound, "no image %s", want.GetImageId())
	}
	for _, s := range p.sandboxes {
		if !s.over() && s.request.GetDefinition().GetName() == want.GetName() {
			return status.Errorf(codes.AlreadyExists, "there is a sandbox %s", want.GetName())
		}
	}
	for _, mount := range want.GetVolumeMounts() {
		if p.byID(mount.GetVolumeId()) == nil {
			return status.Errorf(codes.NotFound, "no volume %s", mount.GetVolumeId())
		}
	}
	return nil
}

func values(m map[string]string) (all []string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

func (p controlPlane) SandboxTerminateV2(_ context.Context, req *pb.SandboxTerminateRequest) (*pb.SandboxTerminateResponse, error) {
	s, err := p.sandbox(req.GetSandboxId())
	if err != nil {
		return nil, err
	}
	go p.finish(s, pb.GenericResult_GENERIC_STATUS_TERMINATED)
	return &pb.SandboxTerminateResponse{}, nil
}

func (p controlPlane) SandboxWaitV2(ctx context.Context, req *pb.SandboxWaitRequest) (*pb.SandboxWaitResponse, error) {
	s, err := p.sandbox(req.GetSandboxId())
	if err != nil {
		return nil, err
	}
	select {
	case <-s.ended:
	case <-time.After(time.Duration(req.GetTimeout() * float32(time.Second))):
	case <-ctx.Done():
	}
	if !s.over() {
		return &pb.SandboxWaitResponse{}, nil
	}
	return pb.SandboxWaitResponse_builder{Result: pb.GenericResult_builder{Status: s.result}.Build()}.Build(), nil
}

func (p controlPlane) SandboxGetCommandRouterAccess(_ context.Context,
	req *pb.SandboxGetCommandRouterAccessRequest) (*pb.SandboxGetCommandRouterAccessResponse, error) {
	s, err := p.sandbox(req.GetSandboxId())
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return pb.SandboxGetCommandRouterAccessResponse_builder{Url: p.router, Jwt: s.key}.Build(), nil
}

// SandboxListV2 answers with a few at a time, the newest first.
func (p controlPlane) SandboxListV2(_ context.Context, req *pb.SandboxListRequest) (*pb.SandboxListResponse, error) {
	var list []*pb.SandboxInfo
	for _, id := range p.alive() {
		s, _ := p.sandbox(id)
		if s.request.GetAppId() != req.GetAppId() || !hasTags(s, req.GetTags()) {
			continue
		}
		if before := req.GetBeforeTimestamp(); before != 0 && s.created >= before {
			continue
		}
		if list = append(list, pb.SandboxInfo_builder{Id: id, CreatedAt: s.created, AppId: req.GetAppId()}.Build()); len(list) == 2 {
			break
		}
	}
	return pb.SandboxListResponse_builder{Sandboxes: list}.Build(), nil
}

func hasTags(s *lent, want []*pb.SandboxTag) bool {
	for _, tag := range want {
		if s.tag(tag.GetTagName()) != tag.GetTagValue() {
			return false
		}
	}
	return true
}

func (s *lent) tag(name string) string {
	for _, tag := range s.request.GetTags() {
		if tag.GetTagName() == name {
			return tag.GetTagValue()
		}
	}
	return ""
}

func (p controlPlane) SandboxTagsGetV2(_ context.Context, req *pb.SandboxTagsGetRequest) (*pb.SandboxTagsGetResponse, error) {
	s, err := p.sandbox(req.GetSandboxId())
	if err != nil {
		return nil, err
	}
	return pb.SandboxTagsGetResponse_builder{Tags: s.request.GetTags()}.Build(), nil
}

func (p controlPlane) VolumeGetOrCreate(_ context.Context, req *pb.VolumeGetOrCreateRequest) (*pb.VolumeGetOrCreateResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := req.GetDeploymentName()
	if p.volumes[name] == nil {
		if req.GetObjectCreationType() != pb.ObjectCreationType_OBJECT_CREATION_TYPE_CREATE_IF_MISSING {
			return nil, status.Errorf(codes.NotFound, "no volume %s", name)
		}
		p.volumes[name] = &volume{id: "vo-" + rand.Text(), name: name, created: p.later()}
	}
	return pb.VolumeGetOrCreateResponse_builder{VolumeId: p.volumes[name].id,
		Metadata: pb.VolumeMetadata_builder{Version: pb.VolumeFsVersion_VOLUME_FS_VERSION_V2, Name: name}.Build()}.Build(), nil
}

// VolumeList answers with as many as it is asked for, the newest first.
func (p controlPlane) VolumeList(_ context.Context, req *pb.VolumeListRequest) (*pb.VolumeListResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*volume
	for _, v := range p.volumes {
		if before := req.GetPagination().GetCreatedBefore(); before == 0 || v.created < before {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b *volume) int { return int(b.created - a.created) })
	var items []*pb.VolumeListItem
	for _, v := range all[:min(len(all), int(req.GetPagination().GetMaxObjects()))] {
		items = append(items, pb.VolumeListItem_builder{Label: v.name, VolumeId: v.id, CreatedAt: v.created}.Build())
	}
	return pb.VolumeListResponse_builder{Items: items}.Build(), nil
}

func (p controlPlane) VolumeDelete(_ context.Context, req *pb.VolumeDeleteRequest) (*emptypb.Empty, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.byID(req.GetVolumeId())
	if v == nil {
		return nil, status.Errorf(codes.NotFound, "no volume %s", req.GetVolumeId())
	}
	delete(p.volumes, v.name)
	return &emptypb.Empty{}, nil
}

func first(ctx context.Context, header string) string {
	all := metadata.ValueFromIncomingContext(ctx, header)
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
