import { AUTHORIZER, RESOURCE_CHECK } from "../functions/authorization.ts";
import type { CelType } from "../types.ts";
import * as types from "../types.ts";

const { BOOL, DYN, INT, STRING } = types;

function object(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return { kind: "object", name, fields: new Map(Object.entries(fields)) };
}

const KIND = object("kubernetes.GroupVersionKind", { group: STRING, version: STRING, kind: STRING });
const RESOURCE = object("kubernetes.GroupVersionResource", { group: STRING, version: STRING, resource: STRING });
const USER = object("kubernetes.UserInfo", {
  username: STRING,
  uid: STRING,
  groups: types.listType(STRING),
  extra: types.mapType(STRING, types.listType(STRING)),
});

const REQUEST = object("kubernetes.AdmissionRequest", {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});

const LABELS = types.mapType(STRING, STRING);

const NAMESPACE = object("kubernetes.Namespace", {
  metadata: object("kubernetes.NamespaceMetadata", {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: LABELS,
    annotations: LABELS,
    UID: STRING,
    creationTimestamp: types.TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: types.TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: types.listType(STRING),
  }),
  spec: object("kubernetes.NamespaceSpec", { finalizers: types.listType(STRING) }),
  status: object("kubernetes.NamespaceStatus", { phase: STRING }),
});

interface PolicyScope {
  /** The policy has a kind of parameters. */
  readonly params: boolean;
  /** The expression may ask what somebody may do. Messages may not. */
  readonly authorizer: boolean;
  /** The type of the variables that the policy defines; undefined where none can be used. */
  readonly variables?: CelType;
}

/** What an expression of an admission policy may read. */
export function policyVariables({ params, authorizer, variables }: PolicyScope): ReadonlyMap<string, CelType> {
  return new Map<string, CelType>([
    ["object", DYN],
    ["oldObject", DYN],
    ["request", REQUEST],
    ["namespaceObject", NAMESPACE],
    ...(params ? [["params", DYN] as const] : []),
    ...(authorizer
      ? ([
          ["authorizer", AUTHORIZER],
          ["authorizer.requestResource", RESOURCE_CHECK],
        ] as const)
      : []),
    ...(variables ? [["variables", variables] as const] : []),
  ]);
}
