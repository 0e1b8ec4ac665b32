import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.openziti.Ziti;
import org.openziti.ZitiContext;

/** Runs one case with the JVM SDK, as described by the JSON on standard input, and prints what it got as JSON. */
public class Client {
  private static final char[] PASSWORD = "password".toCharArray();

  public static void main(String[] args) {
    int status = 0;
    try {
      var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      JsonObject given = new JsonParser().parse(in.readLine()).getAsJsonObject();
      JsonObject out =
          switch (given.get("case").getAsString()) {
            case "enroll" -> enroll(given, in);
            default -> logIn(given);
          };
      System.out.println(out);
    } catch (Throwable error) {
      error.printStackTrace();
      status = 1;
    }
    // The SDK keeps threads.
    System.exit(status);
  }

  /** Enrolls, logs in with the certificate, and sets up TOTP with a code that it is given for the address it prints. */
  private static JsonObject enroll(JsonObject given, BufferedReader in) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, PASSWORD);
    byte[] jwt = given.get("jwt").getAsString().getBytes(StandardCharsets.UTF_8);
    ZitiContext context = Ziti.enroll(store, jwt, "test");
    try (var file = new FileOutputStream(given.get("file").getAsString())) {
      store.store(file, PASSWORD);
    }
    await(context, "Active");
    var enrollment = done(context.enrollMFAAsync());
    JsonObject question = new JsonObject();
    question.addProperty("url", enrollment.getProvisioningUrl());
    System.out.println(question);
    done(context.verifyMFAAsync(in.readLine()));
    return nameOf(context);
  }

  /** Logs in with what was stored, and with the code that the session asks for. */
  private static JsonObject logIn(JsonObject given) throws Exception {
    ZitiContext context = Ziti.newContext(new File(given.get("file").getAsString()), PASSWORD);
    await(context, "NeedsAuth");
    context.authenticateMFA(given.get("code").getAsString());
    await(context, "Active");
    return nameOf(context);
  }

  private static JsonObject nameOf(ZitiContext context) {
    JsonObject out = new JsonObject();
    out.addProperty("name", context.getId().getName());
    return out;
  }

  private static <T> T done(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static void await(ZitiContext context, String status) throws Exception {
    for (int tries = 0; tries < 600; tries++) {
      if (context.getStatus().toString().contains(status)) return;
      Thread.sleep(100);
    }
    throw new IllegalStateException(context.getStatus() + " instead of " + status);
  }
}
