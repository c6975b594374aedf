/** The library that writes certificates. */
export type X509 = typeof import("@peculiar/x509");

/**
 * Loaded when a certificate is first made: it takes 100 to 140 ms and 20 MB, and an API server that starts with the
 * files it made before needs none of it. Its dependency injection wants reflect-metadata to be there first.
 */
export async function loadX509(): Promise<X509> {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}
