package lakeport.spark;

import io.jsonwebtoken.Claims;
import io.jsonwebtoken.Header;
import io.jsonwebtoken.JwtException;
import io.jsonwebtoken.JwtParser;
import io.jsonwebtoken.JwtParserBuilder;
import io.jsonwebtoken.Jwts;
import io.jsonwebtoken.Locator;
import io.jsonwebtoken.io.Parser;
import io.jsonwebtoken.security.Jwk;
import io.jsonwebtoken.security.JwkSet;
import io.jsonwebtoken.security.Jwks;
import java.nio.charset.StandardCharsets;
import java.security.Key;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;

/**
 * Knows whose JSON web tokens are: signed by a key, not expired, of the right issuer and for the right audience.
 *
 * <p>The library is the one that Spark ships. Janino compiles this file at run time; see docs/adr/0016-server.md.
 */
public class JwtUsers implements Function {
  private final JwtParser parser;
  private final String principal;

  /**
   * @param kind What the key is: RSA, EC, EdDSA (PEM without its first and last line), HMAC (Base64), or JWKS (JSON).
   * @param key The key.
   * @param issuer Of tokens; null is any.
   * @param audience Of tokens; null is any.
   * @param principal The claim that names the user.
   */
  public JwtUsers(String kind, String key, String issuer, String audience, String principal) throws Exception {
    JwtParserBuilder builder = Jwts.parser();
    if (kind.equals("JWKS")) {
      builder = builder.keyLocator(new KeysById(key));
    } else if (kind.equals("HMAC")) {
      builder = builder.verifyWith(io.jsonwebtoken.security.Keys.hmacShaKeyFor(Base64.getMimeDecoder().decode(key)));
    } else {
      byte[] encoded = Base64.getMimeDecoder().decode(key);
      PublicKey made = KeyFactory.getInstance(kind).generatePublic(new X509EncodedKeySpec(encoded));
      builder = builder.verifyWith(made);
    }
    if (issuer != null) {
      builder = builder.requireIssuer(issuer);
    }
    if (audience != null) {
      builder = builder.requireAudience(audience);
    }
    this.parser = (JwtParser) builder.build();
    this.principal = principal;
  }

  /** The user of a token; null where it is none. */
  public Object apply(Object token) {
    try {
      Claims claims = (Claims) parser.parseSignedClaims((String) token).getPayload();
      Object user = claims.get(principal);
      // A token that never ends could not be taken back.
      return claims.getExpiration() == null || !(user instanceof String) || ((String) user).trim().isEmpty()
          ? null
          : user;
    } catch (JwtException error) {
      return null;
    } catch (IllegalArgumentException error) {
      return null;
    }
  }

  private static class KeysById implements Locator {
    private final Map keys = new HashMap();

    KeysById(String json) {
      Iterator all = ((JwkSet) ((Parser) Jwks.setParser().build()).parse(json)).getKeys().iterator();
      while (all.hasNext()) {
        Jwk key = (Jwk) all.next();
        keys.put(key.getId(), key.toKey());
      }
    }

    public Object locate(Header header) {
      return keys.get(header.get("kid"));
    }
  }
}
