{{- define "bailiff.selector" -}}
app.kubernetes.io/name: bailiff
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "bailiff.labels" -}}
{{ include "bailiff.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "bailiff.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag }}{{ end }}
{{- end }}

{{- define "bailiff.system" -}}
{{ .Values.sandboxes.systemImage | default (include "bailiff.image" .) }}
{{- end }}

{{- define "bailiff.account" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ .Release.Name }}
{{- end }}

{{/* What is in bailiff.yaml: the values' config, and over it what the chart knows. */}}
{{- define "bailiff.config" -}}
{{- $own := dict "state_dir" "/var/lib/bailiff/state"
  "agent" (dict "listeners" (list (dict "name" "agents" "listen" (printf "tcp://0.0.0.0:%v" .Values.agents.port)
    "token_file" "/etc/bailiff/agents.token" "platforms" .Values.agents.platforms)))
  "operator" (dict "listen" "unix:///run/bailiff/operator.sock")
  "metrics" (dict "listen" "0.0.0.0:9464") }}
{{- if .Values.policies.bundle }}
{{- $_ := set $own "policies" (dict "bundle" .Values.policies.bundle) }}
{{- else if .Values.policies.configMap }}
{{- $paths := list }}
{{- range .Values.policies.configMap.keys }}{{ $paths = append $paths (printf "/etc/bailiff/policies/%s" .) }}{{ end }}
{{- $_ := set $own "policies" (dict "paths" $paths) }}
{{- end }}
{{- if .Values.postgres.secret }}
{{- $postgres := dict "dsn" (dict "file" "/etc/bailiff/postgres.dsn") }}
{{- if .Values.postgres.caSecret }}{{ $_ := set $postgres "ca_file" "/etc/bailiff/postgres-ca.pem" }}{{ end }}
{{- $store := dict "postgres" $postgres }}
{{- if .Values.peers.secret }}
{{- $_ := set $store "peer" (dict "listen" (printf "0.0.0.0:%v" .Values.peers.port)
  "tls" (dict "ca" "/etc/bailiff/peers-ca.pem" "cert" "/etc/bailiff/peer.pem" "key" "/etc/bailiff/peer.key")) }}
{{- end }}
{{- $_ := set $own "store" $store }}
{{- end }}
{{- if .Values.sandboxes.enabled }}
{{- $backend := dict "namespace" .Values.sandboxes.namespace "runner_image" (include "bailiff.system" .)
  "full_network" .Values.sandboxes.fullNetwork }}
{{- with .Values.sandboxes.runtimeClasses }}{{ $_ := set $backend "runtime_class" (first .) }}{{ end }}
{{- $_ := set $own "backends" (dict "kubernetes" $backend) }}
{{- end }}
{{- mergeOverwrite (deepCopy .Values.config) $own | toYaml }}
{{- end }}

{{/* Files of Secrets, each by itself: the folder of a whole volume may be written by all, which bailiff refuses. */}}
{{- define "bailiff.files" -}}
- {secret: {{ .Values.agents.tokenSecret }}, key: token, path: agents.token}
{{- with .Values.postgres.secret }}
- {secret: {{ . }}, key: dsn, path: postgres.dsn}
{{- end }}
{{- with .Values.postgres.caSecret }}
- {secret: {{ . }}, key: ca.crt, path: postgres-ca.pem}
{{- end }}
{{- with .Values.peers.secret }}
- {secret: {{ . }}, key: peers-ca.pem, path: peers-ca.pem}
- {secret: {{ . }}, key: $(POD_NAME).pem, path: peer.pem}
- {secret: {{ . }}, key: $(POD_NAME).key, path: peer.key}
{{- end }}
{{- range .Values.secrets }}
- {secret: {{ .secret }}, key: {{ .key }}, path: {{ .path }}}
{{- end }}
{{- end }}
