import java.io.FileInputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.Signature;
import java.util.Base64;
import java.util.Collections;

/** Verifies the token on standard input, in Base64, with the keys of a Java keystore: java VerifyToken.java STORE PASSWORD */
public class VerifyToken {
    public static void main(String[] arguments) throws Exception {
        KeyStore store = KeyStore.getInstance("JKS");
        try (FileInputStream file = new FileInputStream(arguments[0])) {
            store.load(file, arguments[1].toCharArray());
        }
        String token = new String(
            Base64.getDecoder().decode(new String(System.in.readAllBytes(), StandardCharsets.US_ASCII).trim()),
            StandardCharsets.UTF_8);
        String[] parts = token.split("<signatureInfo>", 3);
        byte[] signature = Base64.getDecoder().decode(parts[1]);
        for (String alias : Collections.list(store.aliases())) {
            Signature verifier = Signature.getInstance("SHA256withRSA");
            verifier.initVerify(store.getCertificate(alias));
            verifier.update(parts[2].getBytes(StandardCharsets.UTF_8));
            if (verifier.verify(signature)) {
                System.out.println("verified by " + alias);
                return;
            }
        }
        System.out.println("verified by none");
    }
}
