import { isAbort } from "../base/abort.ts";
import { isGrpcError } from "./port.ts";
import type { RpcCaller } from "./service.ts";
import { nameOfCode } from "./status.ts";

/** A unary call that ended, in the words of Go's metrics. */
interface MeasuredCall {
  /** `/csi.v1.Node/NodeStageVolume` */
  readonly method: string;
  /** `OK`, `DeadlineExceeded`; of an error without a status, `unknown-non-grpc`. */
  readonly code: string;
  readonly seconds: number;
}

/** A caller that tells of every unary call when it has ended. */
export function measureCalls(caller: RpcCaller, onCall: (call: MeasuredCall) => void): RpcCaller {
  return {
    async unary(rpc, request, options) {
      const startedAt = performance.now();
      const tell = (code: string) => {
        const method = `/${rpc.service}/${rpc.method.name}`;
        onCall({ method, code, seconds: (performance.now() - startedAt) / 1000 });
      };
      try {
        const response = await caller.unary(rpc, request, options);
        tell("OK");
        return response;
      } catch (error) {
        tell(codeOfFailure(error));
        throw error;
      }
    },
    stream: (rpc, request, options) => caller.stream(rpc, request, options),
  };
}

function codeOfFailure(error: unknown): string {
  if (isAbort(error)) return nameOfCode("cancelled");
  return isGrpcError(error) ? nameOfCode(error.code) : "unknown-non-grpc";
}
