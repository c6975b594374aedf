import { encodeProtobuf } from "../../../src/api/protobuf/encode-protobuf.ts";
import type { Target } from "../target.ts";
import { setUpRequests } from "./api-requests.ts";
import { JSON_WORDS, POD_OBJECT, POD_WORDS, POD_YAML } from "./words.ts";

const PODS = "/api/v1/namespaces/default/pods";
const request = (line: string, type: string, body: string | Buffer) => {
  return Buffer.concat([Buffer.from(`${line}\ncontent-type: ${type}\n\n`), Buffer.from(body)]);
};
const json = (line: string, body: object) => request(line, "application/json", JSON.stringify(body));
const named = (apiVersion: string, kind: string, rest: object) => ({
  apiVersion,
  kind,
  metadata: { name: "a" },
  ...rest,
});

const CONTAINERS = { containers: [{ name: "c", image: "a" }] };
const TEMPLATE = { metadata: { labels: { a: "b" } }, spec: CONTAINERS };
const SELECTED = { selector: { matchLabels: { a: "b" } }, template: TEMPLATE };
const CSR = {
  signerName: "kubernetes.io/kube-apiserver-client",
  usages: ["client auth"],
  request: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K",
};
const MANAGED = [
  {
    manager: "m",
    operation: "Update",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { "f:a": {} } },
  },
];

/** Bodies of writes in every form, to many kinds: JSON, YAML, protobuf, the four kinds of patches. */
export const apiWritesTarget: Target = {
  name: "api-writes",
  runs: 256,
  seeds: [
    json(`POST ${PODS}`, POD_OBJECT),
    request(`POST ${PODS}`, "application/yaml", POD_YAML),
    request(`POST ${PODS}?fieldValidation=Strict`, "application/vnd.kubernetes.protobuf", encodeProtobuf(POD_OBJECT)),
    json(
      "POST /api/v1/namespaces/default/configmaps",
      named("v1", "ConfigMap", { data: { a: "b" }, binaryData: { c: "AA==" } }),
    ),
    json("POST /api/v1/namespaces/default/configmaps", {
      metadata: { name: "a", managedFields: MANAGED },
      data: { a: "b" },
    }),
    json(
      "POST /api/v1/namespaces/default/services",
      named("v1", "Service", { spec: { ports: [{ port: 80 }], clusterIP: "10.96.3.4" } }),
    ),
    json(
      "POST /api/v1/namespaces/default/secrets",
      named("v1", "Secret", { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "e30=" } }),
    ),
    json(
      "POST /api/v1/namespaces/default/persistentvolumeclaims",
      named("v1", "PersistentVolumeClaim", {
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      }),
    ),
    json("POST /api/v1/namespaces/default/serviceaccounts/default/token", {
      spec: { audiences: ["a"], expirationSeconds: 600 },
    }),
    json("POST /api/v1/namespaces/default/pods/a/binding", { target: { kind: "Node", name: "n" } }),
    json("POST /api/v1/namespaces/default/pods/a/eviction", { deleteOptions: { gracePeriodSeconds: 0 } }),
    json("POST /apis/apps/v1/namespaces/default/deployments", named("apps/v1", "Deployment", { spec: SELECTED })),
    json(
      "POST /apis/batch/v1/namespaces/default/cronjobs",
      named("batch/v1", "CronJob", {
        spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template: TEMPLATE } } },
      }),
    ),
    json(
      "POST /apis/rbac.authorization.k8s.io/v1/clusterroles",
      named("rbac.authorization.k8s.io/v1", "ClusterRole", {
        rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
      }),
    ),
    json(
      "POST /apis/certificates.k8s.io/v1/certificatesigningrequests",
      named("certificates.k8s.io/v1", "CertificateSigningRequest", { spec: CSR }),
    ),
    json("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", {
      spec: { user: "u", groups: ["g"], resourceAttributes: { verb: "get", resource: "pods" } },
    }),
    json(
      "POST /apis/networking.k8s.io/v1/namespaces/default/ingresses",
      named("networking.k8s.io/v1", "Ingress", {
        spec: {
          rules: [
            {
              host: "a.b",
              http: {
                paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "a", port: { number: 80 } } } }],
              },
            },
          ],
        },
      }),
    ),
    json("DELETE /api/v1/namespaces/default/configmaps/kube-root-ca.crt", {
      propagationPolicy: "Foreground",
      preconditions: { uid: "x" },
    }),
    request(
      "PATCH /api/v1/namespaces/default",
      "application/json-patch+json",
      '[{"op":"add","path":"/metadata/labels/a~1b","value":"c"}]',
    ),
    request(
      "PATCH /api/v1/namespaces/default",
      "application/merge-patch+json",
      '{"metadata":{"annotations":{"a":null}}}',
    ),
    request(
      "PATCH /api/v1/namespaces/default/serviceaccounts/default",
      "application/strategic-merge-patch+json",
      '{"secrets":[{"name":"a","$patch":"delete"},{"name":"b"}]}',
    ),
    request(
      "PATCH /api/v1/namespaces/default/configmaps/a?fieldManager=m&force=true",
      "application/apply-patch+yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n",
    ),
    request(
      "PUT /api/v1/namespaces/default",
      "application/json",
      '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"},"spec":{"finalizers":["kubernetes"]}}',
    ),
  ],
  words: [
    ...[
      "application/yaml",
      "application/vnd.kubernetes.protobuf",
      "application/merge-patch+json",
      "?fieldValidation=Strict",
    ],
    ...[
      '"ownerReferences":[{',
      '"managedFields":[',
      '"generateName":"a-"',
      '"finalizers":["a/b"]',
      "/status",
      "/scale",
    ],
    ...JSON_WORDS,
    ...POD_WORDS,
  ],
  maxBytes: 16 * 1024,
  batch: 32,
  setUp: setUpRequests,
};
