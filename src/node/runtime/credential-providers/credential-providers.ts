import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { createProviderPlugin, type ProvidedCredentials, type ProviderPluginDeps } from "./credential-provider.ts";
import type { LoadedProviders } from "./load-providers.ts";
import { declareProviderMetrics } from "./provider-metrics.ts";

/** The node's credential providers. */
interface CredentialProviders {
  /**
   * Returns what each plugin that matches gives for a repository (without tag and digest), in the order of the
   * configuration. A plugin that fails is logged as an error, and the pull goes on with the others. Rejects with
   * AbortedError only.
   */
  provide(repository: string, pod: Pod, signal: AbortSignal): Promise<readonly ProvidedCredentials[]>;
}

interface CredentialProvidersDeps extends Omit<ProviderPluginDeps, "metrics"> {
  readonly log: Log;
  readonly metrics: Metrics;
}

export function createCredentialProviders(
  deps: CredentialProvidersDeps,
  { providers, hash }: LoadedProviders,
  binDirectory: string,
): CredentialProviders {
  const metrics = declareProviderMetrics(deps.metrics, hash);
  const plugins = providers.map((provider) => createProviderPlugin({ ...deps, metrics }, provider, binDirectory));
  return {
    async provide(repository, pod, signal) {
      const { namespace, name, uid } = podReference(pod);
      const answers = plugins.map(async (plugin) => {
        try {
          return await plugin.provide(repository, pod, signal);
        } catch (error) {
          if (isAbort(error) && signal.aborted) throw error;
          const fields = { provider: plugin.name, image: repository, pod: `${namespace}/${name}`, uid };
          deps.log.error("Failed to provide credentials for image", { ...fields, error: messageOf(error) });
          return undefined;
        }
      });
      return (await Promise.all(answers)).filter((answer) => answer !== undefined);
    },
  };
}
