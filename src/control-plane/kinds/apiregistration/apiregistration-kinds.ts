import type { FieldError } from "../../../api/field-error.ts";
import type { APIService, APIServiceCondition, APIServiceSpec } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { checkDns1035Label, checkDnsSubdomain } from "../../../api/validation/names.ts";
import { each, invalid, invalidEach, required, unsupported } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { checkPathSegment } from "../rules/path-segment.ts";
import { strategyOf } from "../typed-strategy.ts";

const HTTPS_PORT = 443;
const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;
const MAX_PORT = 65_535;

/** The registrations of groups and versions: those of this API server, and those of others that it passes requests to. */
export const API_REGISTRATION_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: "apiregistration.k8s.io",
    kind: "APIService",
    plural: "apiservices",
    namespaced: false,
    categories: ["api-extensions"],
    status: true,
    validateStatus: (next) => {
      const { status } = typed("APIService", next);
      return each("status.conditions", status?.conditions, (condition, path) => {
        const values = ["False", "True", "Unknown"];
        return values.includes(condition.status) ? [] : [unsupported(`${path}.status`, condition.status, values)];
      });
    },
    strategy: strategyOf("APIService", {
      initialStatus: {},
      prepareCreate(draft) {
        if (draft.spec?.service !== undefined) return;
        draft.status = { conditions: [localCondition(draft.metadata.creationTimestamp)] };
      },
      checkName: checkPathSegment,
      default({ spec }) {
        if (spec?.service) spec.service.port ??= HTTPS_PORT;
      },
      validate: validateApiService,
    }),
  }),
];

/** What this API server answers itself is available from the beginning. */
function localCondition(lastTransitionTime: string | undefined): APIServiceCondition {
  return {
    type: "Available",
    status: "True",
    reason: "Local",
    message: "Local APIServices are always available",
    ...(lastTransitionTime !== undefined && { lastTransitionTime }),
  };
}

function validateApiService({ metadata, spec }: APIService): FieldError[] {
  if (spec === undefined) return [required("spec")];
  const { group = "", version = "", groupPriorityMinimum, versionPriority } = spec;
  const errors: FieldError[] = [];
  const name = metadata?.name ?? "";
  if (name !== `${version}.${group}`) {
    const expected = JSON.stringify(`${version}.${group}`);
    errors.push(invalid("metadata.name", name, `must be \`spec.version+"."+spec.group\`: ${expected}`));
  }
  if (group === "" && version !== "v1") {
    errors.push(required("spec.group", "only v1 may have an empty group and it better be legacy kube"));
  }
  if (group !== "") errors.push(...invalidEach("spec.group", group, checkDnsSubdomain(group)));
  errors.push(...invalidEach("spec.version", version, checkDns1035Label(version)));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > MAX_GROUP_PRIORITY) {
    const detail = `must be positive and less than ${MAX_GROUP_PRIORITY}`;
    errors.push(invalid("spec.groupPriorityMinimum", groupPriorityMinimum, detail));
  }
  if (versionPriority <= 0 || versionPriority > MAX_VERSION_PRIORITY) {
    const detail = `must be positive and less than ${MAX_VERSION_PRIORITY}`;
    errors.push(invalid("spec.versionPriority", versionPriority, detail));
  }
  return [...errors, ...(spec.service ? validateService(spec, spec.service) : validateLocal(spec))];
}

function validateLocal({ caBundle = "", insecureSkipTLSVerify: isInsecure = false }: APIServiceSpec): FieldError[] {
  const bytes = Buffer.from(caBundle, "base64").length;
  return [
    ...(bytes > 0 ? [invalid("spec.caBundle", `${bytes} bytes`, "local APIServices may not have a caBundle")] : []),
    ...(isInsecure
      ? [invalid("spec.insecureSkipTLSVerify", true, "local APIServices may not have insecureSkipTLSVerify")]
      : []),
  ];
}

function validateService(
  { caBundle = "", insecureSkipTLSVerify: isInsecure = false }: APIServiceSpec,
  { namespace = "", name = "", port = HTTPS_PORT }: NonNullable<APIServiceSpec["service"]>,
): FieldError[] {
  const path = "spec.service";
  const isPort = port >= 1 && port <= MAX_PORT;
  const isBoth = isInsecure && caBundle !== "";
  return [
    ...(namespace === "" ? [required(`${path}.namespace`)] : []),
    ...(name === "" ? [required(`${path}.name`)] : []),
    ...(isPort
      ? []
      : [invalid(`${path}.port`, port, `port is not valid: must be between 1 and ${MAX_PORT}, inclusive`)]),
    ...(isBoth ? [invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present")] : []),
  ];
}
