import { isRecord } from "../api/object.ts";
import { parseYaml } from "../api/yaml.ts";
import {
  bool,
  type DecodeReport,
  decodeFields,
  duration,
  type FieldTable,
  listOf,
  objectOf,
  optional,
  text,
  value,
} from "./codec.ts";

/** A plugin that gives credentials for registries: one of `providers` in a CredentialProviderConfig. */
export interface CredentialProvider {
  /** The name of the plugin and of its program. */
  readonly name: string;
  readonly matchImages: readonly string[];
  /**
   * The duration is in milliseconds. It is required, like the other fields that are undefined only where they are
   * missing; validation reports them.
   */
  readonly defaultCacheDuration: number | undefined;
  /** The version of requests and responses: `credentialprovider.kubelet.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly args: readonly string[] | undefined;
  readonly env: ReadonlyArray<{ readonly name: string; readonly value: string }> | undefined;
  readonly tokenAttributes?: TokenAttributes | undefined;
}

/** Says how a plugin gets tokens of the service accounts of pods; `kubelet.config.k8s.io/v1` only. */
export interface TokenAttributes {
  readonly serviceAccountTokenAudience: string;
  /** `Token` or `ServiceAccount`: the object with which cached credentials come and go. */
  readonly cacheType: string;
  readonly requireServiceAccount: boolean | undefined;
  readonly requiredServiceAccountAnnotationKeys: readonly string[] | undefined;
  readonly optionalServiceAccountAnnotationKeys: readonly string[] | undefined;
}

/** The content of one file, or the reason why it cannot be used. */
type DecodedProviders =
  | { readonly ok: true; readonly providers: readonly CredentialProvider[] }
  | { readonly ok: false; readonly error: string };

const PROVIDER_FIELDS = {
  name: value(text, "", "works"),
  matchImages: value(listOf(text), [], "works"),
  defaultCacheDuration: optional(duration, "works"),
  apiVersion: value(text, "", "works"),
  args: optional(listOf(text), "works"),
  env: optional(listOf(objectOf({ name: value(text, "", "works"), value: value(text, "", "works") })), "works"),
};

const TOKEN_FIELDS = {
  serviceAccountTokenAudience: value(text, "", "works"),
  cacheType: value(text, "", "works"),
  requireServiceAccount: optional(bool, "works"),
  requiredServiceAccountAnnotationKeys: optional(listOf(text), "works"),
  optionalServiceAccountAnnotationKeys: optional(listOf(text), "works"),
};

const configFields = <T extends FieldTable>(provider: T) => ({
  providers: value(listOf(objectOf(provider)), [], "works"),
});

const OLDER_FIELDS = configFields(PROVIDER_FIELDS);
const V1_FIELDS = configFields({ ...PROVIDER_FIELDS, tokenAttributes: optional(objectOf(TOKEN_FIELDS), "works") });

const VERSIONS = {
  "kubelet.config.k8s.io/v1": V1_FIELDS,
  "kubelet.config.k8s.io/v1beta1": OLDER_FIELDS,
  "kubelet.config.k8s.io/v1alpha1": OLDER_FIELDS,
};

/**
 * Reads one file, strictly: a field that no version knows is an error, as in pkg/credentialprovider/plugin/config.go.
 */
export function decodeCredentialProviders(content: string): DecodedProviders {
  const fail = (error: string) => ({ ok: false, error }) as const;
  const [document] = parseYaml(content);
  if (document !== undefined && document.errors.length > 0) return fail(document.errors.join(", "));
  if (!isRecord(document?.value)) return fail("must hold an object of kind CredentialProviderConfig");
  const { apiVersion, kind, ...fields } = document.value;
  if (kind === undefined) return fail("Object 'Kind' is missing: add `kind: CredentialProviderConfig`");
  const table = Object.entries(VERSIONS).find(([version]) => version === apiVersion)?.[1];
  if (kind !== "CredentialProviderConfig" || table === undefined) {
    const got = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion ?? "")}`;
    return fail(`${got}: use kind CredentialProviderConfig of kubelet.config.k8s.io/v1`);
  }
  const report: DecodeReport = { errors: [], unknownFields: [] };
  const config = decodeFields(table, fields, "", report);
  const strict = [
    ...report.errors.map(({ path, message }) => `${path} ${message}`),
    ...report.unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`),
    ...document.warnings,
  ];
  if (strict.length > 0 || config === undefined) return fail(`strict decoding error: ${strict.join(", ")}`);
  return { ok: true, providers: config.providers };
}
