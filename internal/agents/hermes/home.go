package hermes

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// Home is one Hermes home, as it was found.
type Home struct {
	// Folder holds config.yaml, .env and plugins.
	Folder string
	// Owner is the user whose home it is, and as whom Hermes runs.
	Owner uint32

	// managed is the folder of settings that the home cannot change; empty if there
	// is none.
	managed  string
	settings *values
}

// Read reads a home, and below managed what it cannot change.
func Read(folder, managed string) (*Home, error) {
	about, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no Hermes home %s; name its folder by --home%s", folder, profilesBeside(folder))
	case err != nil:
		return nil, fmt.Errorf("reading the Hermes home: %w", err)
	case !about.IsDir():
		return nil, fmt.Errorf("%s is a file: want the folder of a Hermes home, with --home", folder)
	}
	h := &Home{Folder: folder}
	if is, ok := about.Sys().(*syscall.Stat_t); ok {
		h.Owner = is.Uid
	}
	if about, err := os.Stat(managed); err == nil && about.IsDir() {
		h.managed = managed
	}
	if h.settings, err = readSettings(folder, h.managed); err != nil {
		return nil, fmt.Errorf("reading the Hermes home: %w", err)
	}
	if !settings.Exists(filepath.Join(folder, "config.yaml")) && !settings.Exists(filepath.Join(folder, ".env")) {
		return nil, fmt.Errorf("reading the Hermes home: %s holds neither config.yaml nor .env; name the folder by --home", folder)
	}
	return h, nil
}

// profilesBeside names the profiles that there are, where a folder would be one.
func profilesBeside(folder string) string {
	if filepath.Base(filepath.Dir(folder)) != "profiles" {
		return ""
	}
	entries, _ := os.ReadDir(filepath.Dir(folder))
	names := []string{}
	for _, entry := range entries[:min(len(entries), mostProfiles)] {
		names = append(names, entry.Name())
	}
	if len(names) == 0 {
		return "; it has no profiles"
	}
	return "; profiles there are: " + strings.Join(names, ", ")
}

// mostProfiles is how many are named.
const mostProfiles = 20

func (h *Home) dotenv() string { return filepath.Join(h.Folder, ".env") }

// ManagedFolder is where an administrator pins settings of Hermes.
func ManagedFolder() string {
	if folder := strings.TrimSpace(os.Getenv("HERMES_MANAGED_DIR")); folder != "" {
		return folder
	}
	return "/etc/hermes"
}

// credentials are the variables of .env that, all together, turn a platform on: of
// several with a "|" any, and of one with an "=" the value must be true.
var credentials = map[string][]string{
	"telegram":        {"TELEGRAM_BOT_TOKEN"},
	"discord":         {"DISCORD_BOT_TOKEN"},
	"slack":           {"SLACK_BOT_TOKEN"},
	"whatsapp":        {"WHATSAPP_ENABLED="},
	"whatsapp_cloud":  {"WHATSAPP_CLOUD_PHONE_NUMBER_ID", "WHATSAPP_CLOUD_ACCESS_TOKEN"},
	"signal":          {"SIGNAL_HTTP_URL"},
	"mattermost":      {"MATTERMOST_TOKEN"},
	"matrix":          {"MATRIX_ACCESS_TOKEN|MATRIX_PASSWORD"},
	"homeassistant":   {"HASS_TOKEN"},
	"email":           {"EMAIL_ADDRESS", "EMAIL_PASSWORD", "EMAIL_IMAP_HOST", "EMAIL_SMTP_HOST"},
	"sms":             {"TWILIO_ACCOUNT_SID"},
	"dingtalk":        {"DINGTALK_CLIENT_ID", "DINGTALK_CLIENT_SECRET"},
	"feishu":          {"FEISHU_APP_ID", "FEISHU_APP_SECRET"},
	"wecom":           {"WECOM_BOT_ID", "WECOM_SECRET"},
	"wecom_callback":  {"WECOM_CALLBACK_CORP_ID", "WECOM_CALLBACK_CORP_SECRET"},
	"weixin":          {"WEIXIN_TOKEN", "WEIXIN_ACCOUNT_ID"},
	"bluebubbles":     {"BLUEBUBBLES_SERVER_URL", "BLUEBUBBLES_PASSWORD"},
	"qqbot":           {"QQ_APP_ID", "QQ_CLIENT_SECRET"},
	"yuanbao":         {"YUANBAO_APP_ID", "YUANBAO_APP_SECRET"},
	"api_server":      {"API_SERVER_KEY"},
	"webhook":         {"WEBHOOK_ENABLED="},
	"msgraph_webhook": {"MSGRAPH_WEBHOOK_ENABLED="},
}

// Platforms are the messaging platforms that Hermes serves, sorted. One that
// config.yaml turns off stays off, whatever .env holds.
func (h *Home) Platforms() []string {
	names, _ := h.served()
	return names
}

// served are the platforms that Hermes serves, and strange those of which the name
// can be none of bailiff's.
func (h *Home) served() (names, strange []string) {
	for _, name := range h.turnedOn() {
		switch {
		case name == "cli": // is no messaging platform, and served anyway
		case config.IsPlatform(name):
			names = append(names, name)
		default:
			strange = append(strange, name)
		}
	}
	return names, strange
}

func (h *Home) turnedOn() []string {
	on := map[string]bool{}
	for platform, names := range credentials {
		on[platform] = !slices.ContainsFunc(names, func(name string) bool { return !h.has(name) })
	}
	for _, section := range []string{"platforms.", "gateway.platforms."} {
		for _, key := range h.settings.below(section) {
			platform, field, _ := strings.Cut(strings.TrimPrefix(key, section), ".")
			said, _ := h.settings.of(key)
			if is, ok := said.truth(); ok && field == "enabled" {
				on[platform] = is
			}
		}
	}
	maps.DeleteFunc(on, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(on))
}

func (h *Home) has(names string) bool {
	return slices.ContainsFunc(strings.Split(names, "|"), h.hasOne)
}

func (h *Home) hasOne(name string) bool {
	name, flag := strings.CutSuffix(name, "=")
	v, ok := h.settings.variables[name]
	if !ok || v.value.Reveal() == "" {
		return false
	}
	is, _ := setting{value: v.value.Reveal()}.truth()
	return is || !flag
}
