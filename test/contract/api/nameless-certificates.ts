import type { LoopbackCertificates } from "../loopback-certificate.ts";

/**
 * Certificates as Pepr makes them, valid until 2126: the authority is called nothing and names another as its issuer, and the
 * server at 127.0.0.1 is called nothing as well. Only the first key signs, and it is lost.
 */
export const NAMELESS: LoopbackCertificates = {
  authority: {
    keyPem: "",
    certificatePem: `-----BEGIN CERTIFICATE-----
MIIBRjCB7aADAgECAgEBMAoGCCqGSM49BAMCMBcxFTATBgNVBAMMDEVwaGVtZXJh
bCBDQTAgFw0yNjExMjkwNTMxNDBaGA8yMTI2MTEwNTA1MzE0MFowADBZMBMGByqG
SM49AgEGCCqGSM49AwEHA0IABBT2LUYQPngF7WvBiJVRPypanT/ENDmNaz4NblBI
7z276gpDOJ/T1s1Sgdrqb+fp9MTKa9u33w37IV38kP1+PQujPzA9MA8GA1UdEwEB
/wQFMAMBAf8wCwYDVR0PBAQDAgKEMB0GA1UdDgQWBBSHv1O3bMaswsafEGpdDETk
E7XaEjAKBggqhkjOPQQDAgNIADBFAiB3RzFLx8f/mj5sgV1sG/mJ3lcfQ70zmzVw
94N//P+wtQIhALWHMk4O6UEfARY2PEmY8fJ3M3XUYBVwKc0Z3ZNHhFLF
-----END CERTIFICATE-----`,
  },
  serving: {
    keyPem: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgE+v8aHIxv1Mv1N6m
xBZ3yJgQqJLMb1wXWEppCWSixp6hRANCAAQFuHjXJyNTQ7Dn5UpbNU5ijS4cT8/g
YPIq1RUa0TQ5rcyDDchpQdFKiLa8U4Nxt+c5YatVIdhch960yiz1lHDI
-----END PRIVATE KEY-----`,
    certificatePem: `-----BEGIN CERTIFICATE-----
MIIBRjCB7aADAgECAgECMAoGCCqGSM49BAMCMAAwIBcNMjYxMTI5MDUzMTQwWhgP
MjEyNjExMDUwNTMxNDBaMAAwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQFuHjX
JyNTQ7Dn5UpbNU5ijS4cT8/gYPIq1RUa0TQ5rcyDDchpQdFKiLa8U4Nxt+c5YatV
Idhch960yiz1lHDIo1YwVDASBgNVHREBAf8ECDAGhwR/AAABMB0GA1UdDgQWBBQv
jZPrNFYMsfAoEHiSVFKnPwPMGTAfBgNVHSMEGDAWgBSHv1O3bMaswsafEGpdDETk
E7XaEjAKBggqhkjOPQQDAgNIADBFAiAy2o9ai7kldPJsIcPe7qyWzc5PknOj4ir8
8EX6gUjDXwIhAJvhJRSJq8m/SdDmfvmPQr+GqIJq7O4ZHrQnuQ4l+Gui
-----END CERTIFICATE-----`,
  },
};
