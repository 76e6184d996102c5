/// A token that Adobe Pass issued in 2016, and the public key of the key pair with which it signed until 2021.
///
/// Both are copies of files in `Tests/Vectors` and `Keys`, so that the program needs no other file.
enum RealToken {
    static let clearText = """
        <signatureInfo>WxrCt58xTmqQh2DwO0NqNNi+ZdBjVXx3GQjyXQKIJ+VezCXviDbtugc2nCOicm5rnKZSvBTNOrGfn2ZrcNNsAaGdIBSFbo/E\
        pboV6CofjuvO5Sm1APd3ispvH07GfmOhVBvmdDz0gOQ22MjVBz9qGRbFPhks/PpMddjV0Zuufds=<signatureInfo>\
        <authToken><sessionGUID>613e99bf2db476308f802091f8462819</sessionGUID><requestorID>MML</requestorID><res\
        ourceID>TNT</resourceID><ttl>420000</ttl><issueTime>2016-03-17 15:01:31 -0700</issueTime><mvpdId>TempPas\
        s</mvpdId></authToken>
        """
    static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC30++qBo/WyMfUcB7veNHJiMVX
        t1zouTNtrWfQ81mJm9uSmYJs1booWq05vepNpHYSp3X50xLS8uYe7Ml88sjGppy0
        rZB/Fc5Lq/7aukxw6/lWBzeP0WGUVtwukA7KdyOr1qNHrLNGYjuMs6yLaOB1Gssb
        Z0+y13F/6yQHFCFuwwIDAQAB
        -----END PUBLIC KEY-----

        """
    static let requestor = "MML"
    static let resource = "TNT"
    /// A time 29 seconds after the token was issued. The token lives for seven minutes.
    static let moment = "2016-03-17 15:02:00 -0700"
}
