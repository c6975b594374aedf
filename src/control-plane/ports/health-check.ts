/** One of the checks behind `/healthz`, `/livez` and `/readyz`. */
export interface HealthCheck {
  /** Upstream's name where it has such a check. */
  readonly name: string;
  /** True: only `/readyz` asks, because starting this process again would mend nothing. */
  readonly isForReadiness?: boolean;
  /** Undefined when all is well, else the problem. Never rejects, and takes a few seconds at most. */
  check(): Promise<string | undefined> | string | undefined;
}
