{{/* Names, labels and the parts that api, worker and migration share. */}}

{{- define "ci-insights.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "ci-insights.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "ci-insights.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "ci-insights.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects pods never changes: Kubernetes refuses another selector. */}}
{{- define "ci-insights.selector" -}}
app.kubernetes.io/name: {{ include "ci-insights.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ci-insights.labels" -}}
{{ include "ci-insights.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "ci-insights.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "ci-insights.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "ci-insights.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Seconds: 25 after which the process ends in any case, the drain before them, and 5 more. */}}
{{- define "ci-insights.grace" -}}
{{- $drain := int (index .Values.config "SHUTDOWN_DRAIN_MS" | default 0) -}}
{{- add 30 (div (add $drain 999) 1000) -}}
{{- end -}}

{{/* One variable from a Secret. Takes: name, from (with existingSecret and key). */}}
{{- define "ci-insights.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: { name: {{ .from.existingSecret | quote }}, key: {{ .from.key | quote }} }
{{- end -}}

{{/* Takes: root, postgres and clickhouse (where the addresses come from). */}}
{{- define "ci-insights.environment" -}}
{{- $values := .root.Values -}}
{{ include "ci-insights.secretVariable" (dict "name" "DATABASE_URL" "from" .postgres) }}
{{- if $values.stores.postgres.direct.existingSecret }}
{{ include "ci-insights.secretVariable" (dict "name" "DATABASE_DIRECT_URL" "from" $values.stores.postgres.direct) }}
{{- end }}
{{ include "ci-insights.secretVariable" (dict "name" "CLICKHOUSE_URL" "from" .clickhouse) }}
{{- if $values.stores.clickhouse.cluster }}
- { name: CLICKHOUSE_CLUSTER, value: {{ $values.stores.clickhouse.cluster | quote }} }
{{- end }}
{{- if $values.stores.clickhouse.database }}
- { name: CLICKHOUSE_DATABASE, value: {{ $values.stores.clickhouse.database | quote }} }
{{- end }}
{{ include "ci-insights.secretVariable" (dict "name" "REDIS_URL" "from" $values.stores.redis) }}
- { name: METRICS_PORT, value: '9464' }
{{- if or $values.caBundle.existingConfigMap $values.caBundle.existingSecret }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/ci-insights/ca/ca.crt }
{{- end }}
{{- range $name, $value := $values.config }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- range $name, $from := $values.secrets }}
{{ include "ci-insights.secretVariable" (dict "name" $name "from" $from) }}
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "ci-insights.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "ci-insights.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "ci-insights.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if or .Values.caBundle.existingConfigMap .Values.caBundle.existingSecret }}
- { name: ca, mountPath: /etc/ci-insights/ca, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "ci-insights.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
{{- if .Values.caBundle.existingConfigMap }}
- name: ca
  configMap: { name: {{ .Values.caBundle.existingConfigMap | quote }}, items: [{ key: {{ .Values.caBundle.key | quote }}, path: ca.crt }] }
{{- else if .Values.caBundle.existingSecret }}
- name: ca
  secret: { secretName: {{ .Values.caBundle.existingSecret | quote }}, items: [{ key: {{ .Values.caBundle.key | quote }}, path: ca.crt }] }
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The pods of a role. Takes: root, role (api or worker), values (those of the role), command, ports. */}}
{{- define "ci-insights.deployment" -}}
{{- $root := .root -}}
{{- $selector := include "ci-insights.selector" $root -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "ci-insights.fullname" $root }}-{{ .role }}
  labels:
    {{- include "ci-insights.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  {{- if not .isScaled }}
  replicas: {{ .values.replicas }}
  {{- end }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels:
      {{- $selector | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
  template:
    metadata:
      labels:
        {{- include "ci-insights.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .role }}
        {{- with $root.Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $root.Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "ci-insights.serviceAccountName" $root }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      terminationGracePeriodSeconds: {{ include "ci-insights.grace" $root }}
      securityContext:
        {{- include "ci-insights.podSecurity" $root | nindent 8 }}
      containers:
        - name: {{ .role }}
          image: {{ include "ci-insights.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [{{ .command }}]
          env:
            - { name: ROLE, value: {{ .role }} }
            {{- include "ci-insights.environment" (dict "root" $root "postgres" $root.Values.stores.postgres "clickhouse" $root.Values.stores.clickhouse) | nindent 12 }}
          ports:
            {{- if eq .role "api" }}
            - { name: http, containerPort: 3000 }
            {{- end }}
            - { name: metrics, containerPort: 9464 }
          # A process answers within seconds, also while it migrates or waits for another that does: for hours, if need be.
          startupProbe:
            httpGet: { path: /healthz/live, port: metrics }
            periodSeconds: 2
            failureThreshold: 60
          # A store that is down does not make a pod better by a restart: readiness alone looks at stores.
          livenessProbe:
            httpGet: { path: /healthz/live, port: metrics }
            periodSeconds: 20
            timeoutSeconds: 5
            failureThreshold: 3
          readinessProbe:
            httpGet: { path: /healthz/ready, port: metrics }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          resources:
            {{- toYaml .values.resources | nindent 12 }}
          securityContext:
            {{- include "ci-insights.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            {{- include "ci-insights.volumeMounts" $root | nindent 12 }}
      volumes:
        {{- include "ci-insights.volumes" $root | nindent 8 }}
      topologySpreadConstraints:
        {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
        - topologyKey: {{ . }}
          maxSkew: 1
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- $selector | nindent 14 }}
              app.kubernetes.io/component: {{ $.role }}
        {{- end }}
      {{- with .values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}

{{/* What a Job runs once. Takes: root, name, args, postgres and clickhouse (where the addresses come from), values (deadlineSeconds and resources), projected (sources of one more volume). */}}
{{- define "ci-insights.job" -}}
{{- $root := .root -}}
backoffLimit: 3
activeDeadlineSeconds: {{ .values.deadlineSeconds }}
template:
  metadata:
    labels:
      {{- include "ci-insights.labels" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .name }}
      {{- with $root.Values.podLabels }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  spec:
    restartPolicy: Never
    automountServiceAccountToken: false
    enableServiceLinks: false
    {{- with $root.Values.imagePullSecrets }}
    imagePullSecrets:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    securityContext:
      {{- include "ci-insights.podSecurity" $root | nindent 6 }}
    containers:
      - name: {{ .name }}
        image: {{ include "ci-insights.image" $root | quote }}
        imagePullPolicy: {{ $root.Values.image.pullPolicy }}
        args: {{ toJson .args }}
        env:
          {{- include "ci-insights.environment" (dict "root" $root "postgres" .postgres "clickhouse" .clickhouse) | nindent 10 }}
        resources:
          {{- toYaml .values.resources | nindent 10 }}
        securityContext:
          {{- include "ci-insights.containerSecurity" $root | nindent 10 }}
        volumeMounts:
          {{- include "ci-insights.volumeMounts" $root | nindent 10 }}
          {{- if .projected }}
          - { name: {{ .name }}, mountPath: /etc/ci-insights/{{ .name }}, readOnly: true }
          {{- end }}
    volumes:
      {{- include "ci-insights.volumes" $root | nindent 6 }}
      {{- with .projected }}
      - name: {{ $.name }}
        projected:
          sources:
            {{- toYaml . | nindent 12 }}
      {{- end }}
{{- end -}}

{{/* Takes: root, role, values. */}}
{{- define "ci-insights.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "ci-insights.fullname" .root }}-{{ .role }}
  labels:
    {{- include "ci-insights.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  {{- toYaml .values.disruptionBudget | nindent 2 }}
  # A pod that is not ready may always leave: it does no work that another lacks.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "ci-insights.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
{{- end -}}
