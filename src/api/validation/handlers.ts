import type { FieldError } from "../field-error.ts";
import type {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Probe,
  TCPSocketAction,
} from "../gen/types.ts";
import { checkHttpHeaderName } from "./names.ts";
import { validatePortReference } from "./ports.ts";
import { each, forbidden, invalid, invalidEach, notNegative, oneOf, required } from "./problems.ts";

/** The facts about the pod that the validation of handlers needs. */
interface HandlerContext {
  /** The pod's grace period; undefined only when the pod was not defaulted. */
  readonly terminationGracePeriodSeconds: number | undefined;
  /** `spec.os.name`, which a stop signal needs. */
  readonly os: string | undefined;
}

/** Validates postStart and preStop: each must have exactly one action, and a usable one. */
export function validateLifecycle(path: string, lifecycle: Lifecycle, context: HandlerContext): FieldError[] {
  const { postStart, preStop, stopSignal } = lifecycle;
  const errors: FieldError[] = [];
  if (postStart) errors.push(...validateLifecycleHandler(`${path}.postStart`, postStart, context));
  if (preStop) errors.push(...validateLifecycleHandler(`${path}.preStop`, preStop, context));
  if (stopSignal === undefined) return errors;
  if (!context.os)
    errors.push(forbidden(`${path}.stopSignal`, "may not be set for containers with empty `spec.os.name`"));
  if (!/^SIG[A-Z]+\d*(?:[-+]\d+)?$/.test(stopSignal)) {
    errors.push(invalid(`${path}.stopSignal`, stopSignal, "must be the name of a signal such as SIGTERM"));
  }
  return errors;
}

function validateLifecycleHandler(path: string, handler: LifecycleHandler, context: HandlerContext): FieldError[] {
  const errors = validateHandler(path, handler);
  const limit = context.terminationGracePeriodSeconds ?? 0;
  const seconds = handler.sleep?.seconds;
  if (seconds !== undefined && (seconds < 0 || seconds > limit)) {
    const rule = `must be non-negative and less than terminationGracePeriodSeconds (${limit})`;
    errors.push(invalid(`${path}.sleep.seconds`, seconds, rule));
  }
  return errors;
}

export type ProbeField = "livenessProbe" | "readinessProbe" | "startupProbe";

/** Validates the timings and thresholds of a probe, and that it has exactly one action. */
export function validateProbe(path: string, kind: ProbeField, probe: Probe): FieldError[] {
  const errors = validateHandler(path, probe);
  const { initialDelaySeconds, timeoutSeconds, periodSeconds, successThreshold, failureThreshold } = probe;
  const counts = { initialDelaySeconds, timeoutSeconds, periodSeconds, successThreshold, failureThreshold };
  for (const [field, count] of Object.entries(counts)) errors.push(...notNegative(`${path}.${field}`, count));
  const grace = probe.terminationGracePeriodSeconds;
  if (kind === "readinessProbe") {
    if (grace !== undefined) {
      errors.push(invalid(`${path}.terminationGracePeriodSeconds`, grace, "must not be set for readinessProbes"));
    }
    return errors;
  }
  if (successThreshold !== 1) errors.push(invalid(`${path}.successThreshold`, successThreshold, "must be 1"));
  if (grace !== undefined && grace <= 0) {
    errors.push(invalid(`${path}.terminationGracePeriodSeconds`, grace, "must be greater than 0"));
  }
  return errors;
}

type Handler = Pick<LifecycleHandler & Probe, "exec" | "httpGet" | "tcpSocket" | "grpc" | "sleep">;

/** A handler must have exactly one kind of action. */
function validateHandler(path: string, { exec, httpGet, tcpSocket, grpc, sleep }: Handler): FieldError[] {
  const present = Object.entries({ exec, httpGet, tcpSocket, grpc, sleep }).filter(
    ([, action]) => action !== undefined,
  );
  const surplus = present
    .slice(1)
    .map(([kind]) => forbidden(`${path}.${kind}`, "may not specify more than 1 handler type"));
  return [
    ...(present.length === 0 ? [required(path, "must specify a handler type")] : []),
    ...surplus,
    ...(exec ? validateExec(`${path}.exec`, exec) : []),
    ...(httpGet ? validateHttpGet(`${path}.httpGet`, httpGet) : []),
    ...(tcpSocket ? validateTcpSocket(`${path}.tcpSocket`, tcpSocket) : []),
    ...(grpc ? validateGrpc(`${path}.grpc`, grpc) : []),
  ];
}

function validateExec(path: string, { command = [] }: ExecAction): FieldError[] {
  return command.length === 0 ? [required(`${path}.command`)] : [];
}

function validateHttpGet(path: string, { path: urlPath = "", port, scheme, httpHeaders }: HTTPGetAction): FieldError[] {
  return [
    ...(urlPath === "" ? [required(`${path}.path`)] : []),
    ...validatePortReference(`${path}.port`, port),
    ...oneOf(`${path}.scheme`, scheme, ["HTTP", "HTTPS"]),
    ...each(`${path}.httpHeaders`, httpHeaders, ({ name }) =>
      invalidEach(`${path}.httpHeaders`, name, checkHttpHeaderName(name)),
    ),
  ];
}

function validateTcpSocket(path: string, { port }: TCPSocketAction): FieldError[] {
  return validatePortReference(`${path}.port`, port);
}

function validateGrpc(path: string, { port }: GRPCAction): FieldError[] {
  return validatePortReference(`${path}.port`, port);
}
