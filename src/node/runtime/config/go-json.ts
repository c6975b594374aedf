import { formatQuantity, parseQuantity } from "../../../api/quantity.ts";
import { assert } from "../../../base/assert.ts";

/**
 * JSON exactly as Go's encoding/json writes the Kubernetes v1 structs: fields in the structs' order, empty ones left out
 * where their tags say so. Container hashes and some annotations of a kubelet are made of these bytes.
 *
 * A field is written `name`, then `?` when Go omits it empty (false, 0, "", no entries), or `*` when it is a pointer,
 * which is omitted only when absent; then `:Type` when it is not a plain value or a list of plain values.
 */
const STRUCTS = {
  Container: [
    "name image? command? args? workingDir? ports?:ContainerPort envFrom?:EnvFromSource env?:EnvVar",
    "resources:ResourceRequirements resizePolicy?:ContainerResizePolicy restartPolicy* volumeMounts?:VolumeMount",
    "volumeDevices?:VolumeDevice livenessProbe*:Probe readinessProbe*:Probe startupProbe*:Probe lifecycle*:Lifecycle",
    "terminationMessagePath? terminationMessagePolicy? imagePullPolicy? securityContext*:SecurityContext",
    "stdin? stdinOnce? tty?",
  ],
  ContainerPort: ["name? hostPort? containerPort protocol? hostIP?"],
  EnvFromSource: ["prefix? configMapRef*:LocalReference secretRef*:LocalReference"],
  LocalReference: ["name? optional*"],
  EnvVar: ["name value? valueFrom*:EnvVarSource"],
  EnvVarSource: [
    "fieldRef*:ObjectFieldSelector resourceFieldRef*:ResourceFieldSelector",
    "configMapKeyRef*:KeySelector secretKeyRef*:KeySelector",
  ],
  ObjectFieldSelector: ["apiVersion? fieldPath"],
  ResourceFieldSelector: ["containerName? resource divisor:Quantity"],
  KeySelector: ["name? key optional*"],
  ResourceRequirements: ["limits?:QuantityMap requests?:QuantityMap claims?:ResourceClaim"],
  ResourceClaim: ["name request?"],
  ContainerResizePolicy: ["resourceName restartPolicy"],
  VolumeMount: ["name readOnly? recursiveReadOnly* mountPath subPath? mountPropagation* subPathExpr?"],
  VolumeDevice: ["name devicePath"],
  Probe: [
    "exec*:ExecAction httpGet*:HTTPGetAction tcpSocket*:TCPSocketAction grpc*:GRPCAction initialDelaySeconds?",
    "timeoutSeconds? periodSeconds? successThreshold? failureThreshold? terminationGracePeriodSeconds*",
  ],
  ExecAction: ["command?"],
  HTTPGetAction: ["path? port host? scheme? httpHeaders?:HTTPHeader"],
  HTTPHeader: ["name value"],
  TCPSocketAction: ["port host?"],
  GRPCAction: ["port service"],
  SleepAction: ["seconds"],
  Lifecycle: ["postStart*:LifecycleHandler preStop*:LifecycleHandler stopSignal*"],
  LifecycleHandler: ["exec*:ExecAction httpGet*:HTTPGetAction tcpSocket*:TCPSocketAction sleep*:SleepAction"],
  SecurityContext: [
    "capabilities*:Capabilities privileged* seLinuxOptions*:SELinuxOptions windowsOptions*:WindowsOptions runAsUser*",
    "runAsGroup* runAsNonRoot* readOnlyRootFilesystem* allowPrivilegeEscalation* procMount*",
    "seccompProfile*:SecurityProfile appArmorProfile*:SecurityProfile",
  ],
  Capabilities: ["add? drop?"],
  SELinuxOptions: ["user? role? type? level?"],
  WindowsOptions: ["gmsaCredentialSpecName* gmsaCredentialSpec* runAsUserName* hostProcess*"],
  SecurityProfile: ["type localhostProfile*"],
} satisfies Record<string, string[]>;

type StructName = keyof typeof STRUCTS;
type FieldType = StructName | "Quantity" | "QuantityMap" | "plain";

interface Field {
  name: string;
  omitted: "never" | "when-empty" | "when-absent";
  type: FieldType;
}

/**
 * Encodes an object of the given v1 type as Go's json.Marshal writes it. Fields that the table does not know are left
 * out.
 */
export function encodeGoJson(struct: StructName, value: object): string {
  const values = new Map<string, unknown>(Object.entries(value));
  const members = fieldsOf(struct).flatMap((field) => {
    const member = values.get(field.name);
    if (member === undefined && field.omitted !== "never") return [];
    if (field.omitted === "when-empty" && isEmpty(member)) return [];
    return `"${field.name}":${encodeField(field.type, member)}`;
  });
  return `{${members.join(",")}}`;
}

/**
 * Encodes a string as Go escapes it: `<`, `>`, `&` and the two line separators are escaped too, and \b and \f have no
 * short form.
 */
export function encodeGoString(text: string): string {
  return JSON.stringify(text).replace(/\\[bf]|\\\\|[<>&\u2028\u2029]/g, (match) => {
    if (match === "\\\\") return match;
    const code = match === "\\b" ? 8 : match === "\\f" ? 12 : match.charCodeAt(0);
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

const parsedStructs = new Map<StructName, readonly Field[]>();

function fieldsOf(struct: StructName): readonly Field[] {
  const known = parsedStructs.get(struct);
  if (known !== undefined) return known;
  const fields = STRUCTS[struct].join(" ").split(" ").map(parseField);
  parsedStructs.set(struct, fields);
  return fields;
}

function parseField(text: string): Field {
  const [, name = "", mark, type] = /^(\w+)([?*]?)(?::(\w+))?$/.exec(text) ?? [];
  assert(name !== "" && (type === undefined || isFieldType(type)), `unknown Go field: ${text}`);
  const omitted = mark === "?" ? "when-empty" : mark === "*" ? "when-absent" : "never";
  return { name, omitted, type: type ?? "plain" };
}

function isFieldType(type: string): type is FieldType {
  return type === "Quantity" || type === "QuantityMap" || type in STRUCTS;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return !value;
}

function encodeField(type: FieldType, value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((element) => encodeField(type, element)).join(",")}]`;
  if (type === "Quantity") return encodeGoString(canonicalQuantity(value));
  if (type === "QuantityMap") return encodeQuantityMap(typeof value === "object" && value !== null ? value : {});
  if (type !== "plain") return encodeGoJson(type, typeof value === "object" && value !== null ? value : {});
  return typeof value === "string" || value === undefined ? encodeGoString(value ?? "") : JSON.stringify(value);
}

/** Go sorts the keys of maps. */
function encodeQuantityMap(map: object): string {
  const entries = Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
  const members = entries.map(([name, quantity]) => `${encodeGoString(name)}:${encodeField("Quantity", quantity)}`);
  return `{${members.join(",")}}`;
}

function canonicalQuantity(value: unknown): string {
  const quantity = parseQuantity(typeof value === "string" ? value : "0");
  assert(quantity !== undefined, `not a quantity: ${String(value)}`);
  return formatQuantity(quantity);
}
