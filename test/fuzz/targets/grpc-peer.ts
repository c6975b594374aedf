import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, ServerCredentials, type ServerWritableStream, type sendUnaryData } from "@grpc/grpc-js";
import type { ServiceDefinition } from "../../../src/grpc/service.ts";

/** A gRPC server on a socket that answers every method with these bytes, whatever they are. */
interface GrpcPeer {
  readonly socketPath: string;
  /** The next answer of each method, by its name; of a stream each of its messages. */
  readonly answers: Map<string, Buffer>;
  close(): Promise<void>;
}

export async function createGrpcPeer(definitions: readonly ServiceDefinition[]): Promise<GrpcPeer> {
  const directory = mkdtempSync(join(tmpdir(), "nodelet-fuzz-grpc-"));
  const socketPath = join(directory, "peer.sock");
  const answers = new Map<string, Buffer>();
  const server = new Server();
  const asIs = (bytes: Buffer) => bytes;
  for (const { fullName, methods } of definitions) {
    for (const { name, responseStream } of Object.values(methods)) {
      const answer = () => answers.get(name) ?? Buffer.alloc(0);
      const path = `/${fullName}/${name}`;
      if (responseStream) {
        const stream = (call: ServerWritableStream<Buffer, Buffer>) => {
          call.write(answer());
          call.end();
        };
        server.register(path, stream, asIs, asIs, "serverStream");
      } else {
        const unary = (_call: unknown, reply: sendUnaryData<Buffer>) => reply(null, answer());
        server.register(path, unary, asIs, asIs, "unary");
      }
    }
  }
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  return {
    socketPath,
    answers,
    async close() {
      server.forceShutdown();
      rmSync(directory, { recursive: true });
    },
  };
}
