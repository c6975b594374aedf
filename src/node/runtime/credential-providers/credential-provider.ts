import type { Pod } from "../../../api/gen/types.ts";
import { matchesRegistryPattern } from "../../../api/registry-pattern.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import { createSharedCalls } from "../../../base/shared-calls.ts";
import type { CredentialProvider } from "../../../config/credential-provider-config.ts";
import type { Programs } from "../../../host/programs-port.ts";
import { createCredentialsCache } from "./credentials-cache.ts";
import {
  decodeProviderResponse,
  encodeProviderRequest,
  type ProvidedRegistry,
  type ProviderRequest,
  type ProviderResponse,
} from "./provider-messages.ts";
import type { ProviderMetrics } from "./provider-metrics.ts";
import { proveServiceAccount, type ServiceAccountProof, type ServiceAccountReader } from "./service-account-proof.ts";

/**
 * The credentials that a plugin gave for an image, and the service account that they belong to; undefined means that
 * they belong to the node.
 */
export interface ProvidedCredentials {
  readonly registries: readonly ProvidedRegistry[];
  readonly serviceAccount: ServiceAccountProof["coordinates"] | undefined;
}

/** One plugin. It is asked only for images that it matches, and not again while its last answer holds. */
interface ProviderPlugin {
  readonly name: string;
  /**
   * `repository` has no tag and no digest. Resolves with undefined for images and pods that the plugin does not serve.
   */
  provide(repository: string, pod: Pod, signal: AbortSignal): Promise<ProvidedCredentials | undefined>;
}

export interface ProviderPluginDeps {
  readonly programs: Programs;
  readonly clock: Clock;
  readonly metrics: ProviderMetrics;
  readonly serviceAccounts: ServiceAccountReader | undefined;
}

/** This is upstream's bound for every plugin. */
const PLUGIN_TIMEOUT_MS = MINUTE;
const GLOBAL = "<global>";

/** Follows pkg/credentialprovider/plugin/plugin.go. */
export function createProviderPlugin(
  { programs, clock, metrics, serviceAccounts }: ProviderPluginDeps,
  provider: CredentialProvider,
  binDirectory: string,
): ProviderPlugin {
  const { name, apiVersion, matchImages, args = [], env = [], tokenAttributes, defaultCacheDuration = 0 } = provider;
  const path = `${binDirectory}/${name}`;
  const cache = createCredentialsCache(clock);
  const runs = createSharedCalls<ProviderResponse>();

  const run = async (request: ProviderRequest, signal: AbortSignal): Promise<ProviderResponse> => {
    const startedAt = clock.monotonic();
    const environment = Object.fromEntries(env.map((one) => [one.name, one.value]));
    const stdin = encodeProviderRequest(apiVersion, request);
    const outcome = await programs.run({ path, args, environment, stdin, timeoutMs: PLUGIN_TIMEOUT_MS }, signal);
    metrics.ran(name, (clock.monotonic() - startedAt) / 1_000, outcome.kind === "printed");
    const failed = `error execing credential provider plugin ${name} for image ${request.image}`;
    switch (outcome.kind) {
      case "missing":
        throw new Error(`${failed}: ${path}: no such file or directory`);
      case "failed":
        throw new Error(`${failed}: it ${outcome.problem}${outcome.stderr === "" ? "" : `: ${outcome.stderr}`}`);
      case "printed":
        return decodeProviderResponse(apiVersion, outcome.stdout.toString("utf8"));
    }
  };

  const keep = (image: string, proof: ServiceAccountProof | undefined, response: ProviderResponse) => {
    const { cacheKeyType, cacheDurationMs = defaultCacheDuration, registries } = response;
    const key = cacheKeyOf(cacheKeyType, image);
    if (key === undefined) {
      throw new Error(`credential provider plugin did not return a valid cacheKeyType: ${cacheKeyType.slice(0, 100)}`);
    }
    if (cacheDurationMs > 0) cache.set(withAccount(key, proof), registries, cacheDurationMs);
  };

  return {
    name,
    async provide(image, pod, signal) {
      if (!matchImages.some((pattern) => matchesRegistryPattern(pattern, image))) return undefined;
      const proof = tokenAttributes && (await proveServiceAccount(serviceAccounts, tokenAttributes, pod, signal));
      if (proof === "not-for-this-pod") return undefined;
      const serviceAccount = proof?.coordinates;
      const keys = [image, registryOf(image), GLOBAL].map((key) => withAccount(key, proof));
      const cached = cache.find(keys);
      if (cached !== undefined) return { registries: cached, serviceAccount };
      // Runs are shared by image, because before the answer it is not known for what else the answer holds.
      const response = await runs.join(JSON.stringify([image, proof?.runKey ?? ""]), signal, async (runSignal) => {
        const answer = await run({ image, serviceAccount: proof }, runSignal);
        if (proof !== undefined && tokenAttributes?.cacheType !== "Token") refuseEcho(answer, proof.token);
        return answer;
      });
      keep(image, proof, response);
      return { registries: response.registries, serviceAccount };
    },
  };
}

/** A token dies with its pod. If it were cached for the account, it would outlive the pod. */
function refuseEcho({ registries }: ProviderResponse, token: string): void {
  if (!registries.some(({ password }) => password === token)) return;
  throw new Error(
    "credential provider plugin returned the service account token as the password which is not allowed when service account cache type is not set to 'Token'",
  );
}

function cacheKeyOf(type: string, image: string): string | undefined {
  if (type === "Image") return image;
  if (type === "Registry") return registryOf(image);
  return type === "Global" ? GLOBAL : undefined;
}

function registryOf(image: string): string {
  return image.split("/", 1)[0] ?? "";
}

function withAccount(key: string, proof: ServiceAccountProof | undefined): string {
  return JSON.stringify([key, proof?.cacheKey ?? ""]);
}
