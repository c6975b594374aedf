{{- define "shop.labels" -}}
app.kubernetes.io/name: shop
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
{{- define "shop.pod" -}}
terminationGracePeriodSeconds: 1
securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
{{- end }}
{{- define "shop.container" -}}
image: {{ .Values.image }}
imagePullPolicy: IfNotPresent
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
resources: { requests: { cpu: 1m, memory: 4Mi }, limits: { memory: 32Mi } }
{{- end }}
