/** Where an API server listens, and an administrator's credentials for it. */
export interface Endpoint {
  host: string;
  port: number;
  caPem: string;
  certificatePem: string;
  keyPem: string;
}

/** An API server that runs, in processes of its own. */
export interface ApiServer {
  endpoint: Endpoint;
  /** From the start of its process until `/readyz` answered 200, in milliseconds. */
  readyAfterMs: number;
  /** The memory of all its processes, in MiB; etcd counts for kube-apiserver. */
  readMemory(): Promise<{ resident: number; proportional: number }>;
  /** That all its processes have used so far, in milliseconds. */
  readCpuMs(): Promise<number>;
  /** Ends it; what it stored stays in its directory. */
  stop(): Promise<void>;
}

/** A program that serves the API. */
export interface ApiProgram {
  /** As the report calls it. */
  name: string;
  /** On what the directory holds, which may be nothing. */
  start(directory: string, signal: AbortSignal): Promise<ApiServer>;
}
