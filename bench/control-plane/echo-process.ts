import { createServer } from "node:https";
import type { Endpoint } from "./api-server.ts";

/**
 * The least that a server of HTTPS does: it sends back what it was sent. A process of its own, started with `fork`; is
 * told its certificates, and tells its port.
 */
process.once("message", (endpoint: Endpoint & { servingCertificatePem: string; servingKeyPem: string }) => {
  const { caPem: ca, servingCertificatePem: cert, servingKeyPem: key } = endpoint;
  const server = createServer({ ca, cert, key, requestCert: true }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(Buffer.concat(chunks));
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.send?.(typeof address === "object" && address !== null ? address.port : 0);
  });
});
process.once("disconnect", () => process.exit());
